// Copying the nodes of a computation that are asked for.
#include "client/transform/differentiate.h"

#include <string>

namespace hlod::lazy {

void RefuseRule(const Part& part, NodeId node, const char* rule) {
  const hlo::Instruction instruction = part.computation[node];
  std::string text(hlo::Name(instruction.opcode()));
  if (instruction.opcode() == hlo::kCustomCall) {
    text += " (" + instruction.attributes<hlo::CustomCallAttributes>().target + ")";
  }
  if (part.graph != nullptr) {
    const OriginRow& row = part.graph->origin(node);
    text += std::string(", of ") + row.operation + " (" + LineText(row.caller) + "),";
  }
  Refuse("%s has no %s rule", text, rule);
}

OnDemand::OnDemand(Lowering& l, const hlo::Computation& from, std::vector<Op> parameters)
    : l_(l),
      from_(from),
      parameters_(std::move(parameters)),
      copies_(from.size(), hlo::Computation::kNoNode) {}

Op OnDemand::operator()(NodeId node) {
  constexpr NodeId kNoNode = hlo::Computation::kNoNode;
  std::vector<NodeId> stack = {node};
  absl::InlinedVector<NodeId, 8> operands;
  while (!stack.empty()) {
    const NodeId next = stack.back();
    if (copies_[next] != kNoNode) {
      stack.pop_back();
      continue;
    }
    const hlo::Instruction instruction = from_[next];
    if (instruction.opcode() == hlo::kParameter) {
      copies_[next] = parameters_[static_cast<size_t>(instruction.parameter_number())].id;
      stack.pop_back();
      continue;
    }
    bool ready = true;
    operands.clear();
    for (const NodeId operand : instruction.operands()) {
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

}  // namespace hlod::lazy
