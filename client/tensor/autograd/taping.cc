// Makes tape entries from the operations just recorded.
#include "client/tensor/autograd/taping.h"

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
                                other.leaf.get() == input.leaf.get() &&
                                other.history.get() == input.history.get() && other.root == input.root)) {
      continue;
    }
    op = lowering.b.Unary(hlo::kCopy, op);
    input.node = op.id;
    break;
  }
  taping.inputs.push_back(std::move(input));
  return op;
}

void Remember(Taping& taping, const Operation& operation, Trace& graph, const Caller& caller) {
  auto entry = MakeRef<TapeEntry>(operation.pytorch, caller);
  for (const auto& [value, node, lineage] : taping.results) {
    if (!hlo::IsFloat(value->type) && !hlo::IsComplex(value->type)) continue;
    const auto output = static_cast<uint32_t>(entry->outputs.size());
    if (lineage == nullptr) {
      value->history = entry;
      value->history_output = output;
    } else {
      value->detached_history = entry;
      lineage->history = entry;
      lineage->history_output = output;
    }
    entry->outputs.push_back(node);
    entry->output_shapes.push_back(graph.computation()[node].shape());
  }
  if (entry->outputs.empty()) return;
  entry->inputs.assign(std::make_move_iterator(taping.inputs.begin()),
                       std::make_move_iterator(taping.inputs.end()));
  entry->engine = EngineOf(entry->inputs);
  entry->first = taping.first;
  entry->limit = graph.size();
  entry->in_place = taping.in_place;
  entry->ForgetUnneeded(graph);
  graph.AddTape(*entry);
}

}  // namespace hlod::lazy
