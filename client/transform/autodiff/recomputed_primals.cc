// PrimalValues that are the nodes themselves, and PrimalValues that are copies of requested nodes.
// ResidualPrimals has its own file.
#include <string>

#include "client/transform/autodiff/differentiate.h"

namespace hlod::lazy {

Op InPlacePrimals::Element(NodeId node, size_t index) {
  return l_.b.GetTupleElement(Of(node), static_cast<int64_t>(index));
}

std::vector<Op> InPlacePrimals::ExtendTuple(NodeId node, const TupleExtension& wider) {
  if (!lazy::ExtendTuple(l_.graph.mutable_computation(), node, wider)) return {};
  return ElementsOf(l_, Of(node), wider.at, wider.at + wider.added);
}

RecomputedPrimals::RecomputedPrimals(Lowering& l, const hlo::Computation& from, std::vector<Op> parameters)
    : l_(l), from_(from), parameters_(std::move(parameters)), copies_(from.size(), kNoNode) {}

void RecomputedPrimals::Set(NodeId node, Op op) {
  copies_[node] = op.id;
  const hlo::Instruction instruction = from_[node];
  if (instruction.opcode() != hlo::kGetTupleElement) return;
  const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
  set_elements_[{instruction.operands()[0], index}] = op;
}

// Returns the target's node for a node that needs no copies of its operands, because it was copied before, is
// a parameter or was set; kNoNode otherwise.
NodeId RecomputedPrimals::Known(NodeId node) {
  if (copies_[node] != kNoNode) return copies_[node];
  const hlo::Instruction instruction = from_[node];
  if (const auto lazy = lazy_.find(node); lazy != lazy_.end()) {
    copies_[node] = lazy->second().id;
  } else if (instruction.opcode() == hlo::kParameter) {
    copies_[node] = parameters_[static_cast<size_t>(instruction.parameter_number())].id;
  } else if (const auto elements = elements_.find(node); elements != elements_.end()) {
    copies_[node] = l_.b.Tuple(elements->second).id;
  } else if (instruction.opcode() == hlo::kGetTupleElement) {
    const auto tuple = elements_.find(instruction.operands()[0]);
    if (tuple != elements_.end()) {
      const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
      copies_[node] = tuple->second[index].id;
    }
  }
  return copies_[node];
}

Op RecomputedPrimals::Of(NodeId node) {
  std::vector<NodeId> stack = {node};
  absl::InlinedVector<NodeId, 8> operands;
  while (!stack.empty()) {
    const NodeId next = stack.back();
    if (Known(next) != kNoNode) {
      stack.pop_back();
      continue;
    }
    bool ready = true;
    operands.clear();
    for (const NodeId operand : from_[next].operands()) {
      operands.push_back(copies_[operand]);
      if (copies_[operand] != kNoNode) continue;
      stack.push_back(operand);
      ready = false;
    }
    if (!ready) continue;
    copies_[next] = l_.graph.AppendCopy(from_, next, operands);
    stack.pop_back();
  }
  return l_.graph.op(copies_[node]);
}

Op RecomputedPrimals::Element(NodeId node, size_t index) {
  if (const auto elements = elements_.find(node); elements != elements_.end()) return elements->second[index];
  const auto set = set_elements_.find({node, index});
  if (set != set_elements_.end()) return set->second;
  return l_.b.GetTupleElement(Of(node), static_cast<int64_t>(index));
}

std::vector<Op> RecomputedPrimals::ExtendTuple(NodeId node, const TupleExtension& wider) {
  if (elements_.contains(node)) return {};
  return InPlacePrimals(l_).ExtendTuple(Of(node).id, wider);
}

}  // namespace hlod::lazy
