// Removes layouts, so that two values that differ only in layout become equal. A bitcast, whose meaning
// depends on its layouts, is expanded first.
#include "common/base/errors/status.h"
#include "common/hlo/bitcast.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

void Strip(Shape& shape) {
  shape.layout.reset();
  for (Shape& element : shape.tuple) Strip(element);
}

// The instructions that replace one bitcast: its reorderings and, when the type changes, a bitcast of
// row-major arrays between them.
class WrittenOut {
 public:
  WrittenOut(ComputationCopy& copy, Instruction bitcast)
      : copy_(copy), bitcast_(bitcast), node_(copy.operands(bitcast)[0]) {}

  NodeId Append(const BitcastForm& form) {
    const PrimitiveType from = bitcast_.operand(0).shape().type, to = bitcast_.shape().type;
    Reorder(form.to_memory, from);
    if (from != to) {
      const Dims& dims = form.from_memory.empty() ? bitcast_.shape().dims : form.from_memory[0].dims;
      AppendOne(kBitcast, Shape::Array(to, dims), NoAttributes{});
    }
    Reorder(form.from_memory, to);
    Reshape(Shape::Array(to, bitcast_.shape().dims));
    return node_;
  }

 private:
  void Reorder(const std::vector<Reordering>& steps, PrimitiveType type) {
    for (const Reordering& step : steps) {
      Reshape(Shape::Array(type, step.dims));
      Dims dims;
      for (const int64_t d : step.permutation) dims.push_back(step.dims[static_cast<size_t>(d)]);
      AppendOne(kTranspose, Shape::Array(type, dims), DimensionsAttributes{step.permutation});
    }
  }
  void Reshape(const Shape& shape) {
    if (!Compatible(copy_.to()[node_].shape(), shape)) AppendOne(kReshape, shape, DimensionsAttributes{});
  }
  void AppendOne(Opcode opcode, const Shape& shape, const Attributes& attributes) {
    node_ = copy_.Replace(bitcast_, opcode, copy_.tables().Intern(shape), attributes, {node_});
  }

  ComputationCopy& copy_;
  const Instruction bitcast_;
  NodeId node_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> DropLayouts(const Module& module, PassWatch* watch) {
  Tables& tables = module.tables();
  std::vector<ShapeId> plain;  // By the id of a shape with layout, the id of that shape without it.
  const auto without_layout = [&](ShapeId id) {
    if (id >= plain.size()) plain.resize(id + 1, UINT32_MAX);
    if (plain[id] == UINT32_MAX) {
      Shape shape = tables.shape(id);
      Strip(shape);
      plain[id] = tables.Intern(shape);
    }
    return plain[id];
  };
  absl::Status refused;
  auto result = Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    const bool by_layout = instruction.opcode() == kBitcast &&
                           (!IsRowMajor(instruction.shape()) || !IsRowMajor(instruction.operand(0).shape()));
    if (by_layout && refused.ok()) {
      const absl::StatusOr<BitcastForm> form = BitcastFormOf(instruction);
      if (form.ok()) return WrittenOut(copy, instruction).Append(*form);
      refused = form.status();
    }
    if (without_layout(instruction.shape_id()) == instruction.shape_id()) return copy.Clone(instruction);
    return copy.Clone(instruction, without_layout(instruction.shape_id()));
  });
  RETURN_IF_ERROR(refused);
  if (result != nullptr && module.config.entry_layout.result.type == kInvalid)
    result->config.entry_layout = module.entry().program_shape();
  return result;
}

}  // namespace hlod::passes
