// Helpers of the rules for instructions with bodies.
#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {

std::vector<NodeId> JvpArgs::Operands() const {
  const absl::Span<const NodeId> operands = instruction().operands();
  return {operands.begin(), operands.end()};
}
std::vector<NodeId> VjpArgs::Operands() const {
  const absl::Span<const NodeId> operands = instruction().operands();
  return {operands.begin(), operands.end()};
}

const ControlRules* ControlRulesOf(hlo::Opcode opcode) {
  static constexpr ControlRules kScan = {ScanJvp, ScanVjp}, kWhile = {WhileJvp, WhileVjp},
                                kConditional = {ConditionalJvp, ConditionalVjp}, kCall = {CallJvp, CallVjp};
  switch (opcode) {
    case hlo::kScan: return &kScan;
    case hlo::kWhile: return &kWhile;
    case hlo::kConditional: return &kConditional;
    case hlo::kCall: return &kCall;
    default: return nullptr;
  }
}

std::vector<Leaf> LeavesOf(const hlo::Computation& computation, NodeId operand) {
  const hlo::Instruction instruction = computation[operand];
  if (instruction.shape().IsArray()) return {{operand}};
  std::vector<Leaf> leaves;
  for (size_t i = 0; i < instruction.shape().tuple.size(); ++i) {
    if (instruction.opcode() == hlo::kTuple) leaves.push_back({instruction.operands()[i]});
    else leaves.push_back({operand, i, true});
  }
  return leaves;
}

Shape ShapeOf(const hlo::Computation& computation, const Leaf& leaf) {
  const Shape& shape = computation[leaf.node].shape();
  return leaf.is_element ? shape.tuple[leaf.element] : shape;
}

Op ValueOf(PrimalValues& values, const Leaf& leaf) {
  return leaf.is_element ? values.Element(leaf.node, leaf.element) : values.Of(leaf.node);
}

}  // namespace hlod::lazy
