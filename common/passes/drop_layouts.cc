// Layouts out of the way: two values that differ in layout only become equal.
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod {

using namespace hlo;

namespace {

void Strip(Shape& shape) {
  shape.layout.reset();
  for (Shape& element : shape.tuple) Strip(element);
}

bool IsRowMajor(const Shape& shape) { return !shape.layout || shape.layout->IsRowMajor(); }

bool LayoutsMatter(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      if (instruction.opcode() != kBitcast) continue;
      if (!IsRowMajor(instruction.shape()) || !IsRowMajor(instruction.operand(0).shape())) return true;
    }
  }
  return false;
}

}  // namespace

std::unique_ptr<Module> DropLayouts(const Module& module, PassWatch* watch) {
  const bool keep = LayoutsMatter(module);
  Tables& tables = module.tables();
  std::vector<ShapeId> plain;  // By the id with layout.
  const auto without_layout = [&](ShapeId id) {
    if (id >= plain.size()) plain.resize(id + 1, UINT32_MAX);
    if (plain[id] == UINT32_MAX) {
      Shape shape = tables.shape(id);
      Strip(shape);
      plain[id] = tables.Intern(shape);
    }
    return plain[id];
  };
  auto result = Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    if (keep || without_layout(instruction.shape_id()) == instruction.shape_id())
      return copy.Clone(instruction);
    return copy.Clone(instruction, without_layout(instruction.shape_id()));
  });
  if (result != nullptr && module.config.entry_layout.result.type == kInvalid)
    result->config.entry_layout = module.entry().program_shape();
  return result;
}

}  // namespace hlod
