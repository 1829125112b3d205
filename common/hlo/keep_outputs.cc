// A module narrowed to some of its outputs: the entry without what only the others need.
#include "common/hlo/dependence.h"

namespace hlod::hlo {
namespace {

// By computation: whether running it does something besides computing its result.
std::vector<bool> FindEffects(const Module& module) {
  std::vector<bool> effects(module.computation_count());
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size() && !effects[c]; ++id) {
      const Instruction instruction = computation[id];
      bool effect = HasTrait(instruction.opcode(), kSideEffect);
      if (instruction.opcode() == kCustomCall) effect = instruction.attributes<CustomCallAttributes>().has_side_effect;
      for (const ComputationId callee : instruction.called()) effect = effect || effects[callee];
      effects[c] = effect;
    }
  }
  return effects;
}

// Appends to `copy` a get-tuple-element for each step of `path` from `node`, or finds the element where a tuple was made.
NodeId Descend(Computation& copy, NodeId node, const Dims& path) {
  Tables& tables = copy.tables();
  for (const int64_t index : path) {
    const Instruction tuple = copy[node];
    if (tuple.opcode() == kTuple) {
      node = tuple.operands()[index];
      continue;
    }
    const ShapeId shape = tables.Intern(tuple.shape().tuple[index]);
    const NodeId operands[] = {node};
    node = copy.Append(kGetTupleElement, shape, tables.Intern(Attributes(TupleIndexAttributes{index})), operands);
  }
  return node;
}

// A copy of `from` that ends in the tuple of the leaves of its root that `keep` names, with what they do not need still in it.
Computation WithKeptRoot(const Computation& from, const std::vector<bool>& keep) {
  Computation copy = from;
  std::vector<NodeId> kept;
  std::vector<Shape> shapes;
  const NodeId root = from.root_id();
  const std::vector<ShapeLeaf> leaves = Leaves(from.root().shape());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    if (!keep[leaf]) continue;
    kept.push_back(Descend(copy, root, leaves[leaf].index));
    shapes.push_back(copy[kept.back()].shape());
  }
  copy.set_root(copy.Append(kTuple, copy.tables().Intern(Shape::Tuple(std::move(shapes))), 0, kept));
  return copy;
}

// What the root, the effects and the signature need.
std::vector<bool> FindNeeded(const Computation& computation, const std::vector<bool>& effects) {
  std::vector<bool> needed(computation.size());
  needed[computation.root_id()] = true;
  for (NodeId id = computation.size(); id-- > 0;) {
    const Instruction instruction = computation[id];
    bool keep = needed[id] || instruction.opcode() == kParameter || HasTrait(instruction.opcode(), kSideEffect);
    if (instruction.opcode() == kCustomCall) keep = keep || instruction.attributes<CustomCallAttributes>().has_side_effect;
    for (const ComputationId callee : instruction.called()) keep = keep || effects[callee];
    needed[id] = keep;
    for (const NodeId operand : instruction.operands()) needed[operand] = needed[operand] || keep;
  }
  return needed;
}

// Appends the needed instructions of `from` to `to`, with their notes.
void CopyNeeded(const Computation& from, const std::vector<bool>& needed, Computation& to) {
  std::vector<NodeId> nodes(from.size(), Computation::kNoNode);
  absl::InlinedVector<NodeId, 8> operands;
  for (NodeId id = 0; id < from.size(); ++id) {
    if (!needed[id]) continue;
    const Instruction instruction = from[id];
    operands.clear();
    for (const NodeId operand : instruction.operands()) operands.push_back(nodes[operand]);
    nodes[id] = to.Append(instruction.opcode(), instruction.shape_id(), instruction.attributes_id(), operands,
                          instruction.called());
    const Notes* notes = from.notes(id);
    if (notes == nullptr) continue;
    Notes& copied = to.mutable_notes(nodes[id]);
    copied = *notes;
    copied.control_predecessors.clear();
    for (const NodeId predecessor : notes->control_predecessors) {
      if (nodes[predecessor] != Computation::kNoNode) copied.control_predecessors.push_back(nodes[predecessor]);
    }
  }
  to.set_root(nodes[from.root_id()]);
}

}  // namespace

std::unique_ptr<Module> KeepOutputs(const Module& module, const std::vector<bool>& keep) {
  auto result = std::make_unique<Module>(module.name(), module.shared_tables());
  result->frontend_attributes = module.frontend_attributes;
  result->replica_count = module.replica_count;
  result->partition_count = module.partition_count;
  const Computation entry = WithKeptRoot(module.entry(), keep);
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    Computation& copy = result->AddComputation(module.computation(c).name());
    if (c == module.entry_id()) {
      CopyNeeded(entry, FindNeeded(entry, FindEffects(module)), copy);
    } else {
      copy = module.computation(c);
    }
  }
  result->set_entry(module.entry_id());
  return result;
}

}  // namespace hlod::hlo
