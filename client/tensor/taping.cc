// Tape entries from what was just recorded.
#include "client/tensor/taping.h"

#include <iterator>

namespace hlod::lazy {

bool NeedsTape(const BoundOperands& bound) {
  if (!GradMode()) return false;
  for (const Bound& operand : bound) {
    if (operand.tensor != nullptr && RequiresGrad(*operand.tensor)) return true;
  }
  return false;
}

Op TapeOperand(Taping& taping, Lowering& lowering, TensorImpl& tensor, Op op) {
  TapeInput input = MakeTapeInput(tensor, op.id);
  for (const TapeInput& other : taping.inputs) {
    if (other.node != op.id || (other.value_id == input.value_id && other.wanted == input.wanted &&
                                other.leaf.get() == input.leaf.get())) {
      continue;
    }
    op = lowering.b.Unary(hlo::kCopy, op);
    input.node = op.id;
    break;
  }
  taping.inputs.push_back(std::move(input));
  return op;
}

void Remember(Taping& taping, const Operation& operation, Graph& graph, const Caller& caller) {
  auto entry = MakeRef<TapeEntry>(operation.pytorch, caller);
  for (const auto& [value, node] : taping.results) {
    if (!hlo::IsFloat(value->type) && !hlo::IsComplex(value->type)) continue;
    value->history = entry;
    value->history_output = static_cast<uint32_t>(entry->outputs.size());
    entry->outputs.push_back(node);
    entry->output_shapes.push_back(value->shape());
  }
  if (entry->outputs.empty()) return;
  entry->inputs.assign(std::make_move_iterator(taping.inputs.begin()),
                       std::make_move_iterator(taping.inputs.end()));
  entry->first = taping.first;
  entry->limit = graph.size();
  entry->ForgetUnneeded(graph);
  graph.AddTape(*entry);
}

}  // namespace hlod::lazy
