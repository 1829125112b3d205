// Copies a module over fresh Tables: every shape, attribute and literal that it uses is interned again.
#include "common/hlo/module.h"

namespace hlod::hlo {
namespace {

// The ids of one Tables in another, each translated once.
class Translation {
 public:
  Translation(const Tables& from, Tables& to) : from_(from), to_(to) {}

  ShapeId shape(ShapeId id) {
    ShapeId& now = Slot(shapes_, id);
    if (now == kUnknown) now = to_.Intern(from_.shape(id));
    return now;
  }

  AttributesId attributes(AttributesId id) {
    AttributesId& now = Slot(attributes_, id);
    if (now != kUnknown) return now;
    const Attributes& given = from_.attributes(id);
    if (const auto* constant = std::get_if<ConstantAttributes>(&given)) {
      return now = to_.Intern(
                 Attributes(ConstantAttributes{to_.Intern(from_.shared_literal(constant->literal))}));
    }
    return now = to_.Intern(given);
  }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static uint32_t& Slot(std::vector<uint32_t>& ids, uint32_t id) {
    if (id >= ids.size()) ids.resize(id + 1, kUnknown);
    return ids[id];
  }

  const Tables& from_;
  Tables& to_;
  std::vector<uint32_t> shapes_, attributes_;
};

}  // namespace

std::unique_ptr<Module> Clone(const Module& module) {
  auto clone = std::make_unique<Module>(module.name());
  Translation translation(module.tables(), clone->tables());
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    Computation& to = clone->AddComputation(from.name());
    to.config = from.config;
    for (NodeId id = 0; id < from.size(); ++id) {
      const Instruction instruction = from[id];
      to.Append(instruction.opcode(), translation.shape(instruction.shape_id()),
                translation.attributes(instruction.attributes_id()), instruction.operands(),
                instruction.called());
      to.ShareNotes(id, from, id);
    }
    to.set_root(from.root_id());
  }
  clone->set_entry(module.entry_id());
  clone->config = module.config;
  return clone;
}

}  // namespace hlod::hlo
