// Loops and branches become markers between ops, with moves into the values that they carry.
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/plan/lowering/lowering_internal.h"

namespace hlod::engine {

using hlo::Computation;
using hlo::Instruction;

absl::Status Lowering::LowerWhile(Frame& frame, Instruction instruction) {
  const Computation& body = module_->computation(instruction.called()[0]);
  const Computation& condition = module_->computation(instruction.called()[1]);
  const int32_t id = static_cast<int32_t>(program_.loops.size());
  program_.loops.emplace_back().parent = frame.loop;

  const absl::Span<const ValueId> operand = LeavesOf(frame, instruction.operands()[0]);
  const ValueIds initial(operand.begin(), operand.end());
  ValueIds states;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(*leaf.shape, id));
    program_.values[value].role = Value::Role::kState;
    program_.values[value].owner = id;
    states.push_back(value);
  }

  // The states are written before the loop and after each iteration.
  RETURN_IF_ERROR(Spend(4 * states.size()));
  program_.loops[id].begin = Now();
  Op& begin = AddOp(Op::Kind::kLoopBegin, frame.loop, id);
  begin.inputs.assign(initial.begin(), initial.end());
  begin.outputs.assign(states.begin(), states.end());

  ASSIGN_OR_RETURN(const ValueIds predicate, LowerComputation(condition, states, id));
  program_.loops[id].test = Now();
  AddOp(Op::Kind::kLoopTest, id, id).inputs.push_back(predicate[0]);

  ASSIGN_OR_RETURN(const ValueIds results, LowerComputation(body, states, id));
  program_.loops[id].back = Now();
  Op& back = AddOp(Op::Kind::kLoopBack, id, id);
  back.inputs.assign(results.begin(), results.end());
  back.outputs.assign(states.begin(), states.end());

  program_.loops[id].exit = Now();
  AddOp(Op::Kind::kLoopExit, frame.loop, id);

  // A variable that the body returns unchanged is its initial value.
  for (size_t i = 0; i < states.size(); ++i) {
    if (Resolve(results[i]) == states[i]) forward_[states[i]] = Resolve(initial[i]);
  }
  frame.Define(instruction.id(), states);
  return absl::OkStatus();
}

absl::Status Lowering::LowerConditional(Frame& frame, Instruction instruction) {
  const int32_t id = static_cast<int32_t>(program_.switches.size());
  program_.switches.emplace_back().on_pred = instruction.operand(0).shape().type == hlo::kPred;

  ValueIds joins;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) {
    ASSIGN_OR_RETURN(const ValueId value, NewValue(*leaf.shape, frame.loop));
    program_.values[value].role = Value::Role::kJoin;
    program_.values[value].owner = id;
    joins.push_back(value);
  }

  program_.switches[id].begin = Now();
  const ValueId selector = LeavesOf(frame, instruction.operands()[0])[0];
  AddOp(Op::Kind::kSwitch, frame.loop, id).inputs.push_back(selector);

  std::vector<ValueIds> results;
  for (size_t b = 0; b < instruction.called().size(); ++b) {
    program_.switches[id].branches.push_back(Now());
    AddOp(Op::Kind::kBranchBegin, frame.loop, id);
    const absl::Span<const ValueId> operand = LeavesOf(frame, instruction.operands()[b + 1]);
    ASSIGN_OR_RETURN(ValueIds result, LowerComputation(module_->computation(instruction.called()[b]),
                                                       ValueIds(operand.begin(), operand.end()), frame.loop));
    RETURN_IF_ERROR(Spend(2 * joins.size()));
    Op& end = AddOp(Op::Kind::kBranchEnd, frame.loop, id);
    end.inputs.assign(result.begin(), result.end());
    end.outputs.assign(joins.begin(), joins.end());
    results.push_back(std::move(result));
  }
  program_.switches[id].end = Now();
  AddOp(Op::Kind::kSwitchEnd, frame.loop, id);

  // A result that is the same value in every branch is that value.
  for (size_t i = 0; i < joins.size(); ++i) {
    bool same = !results.empty();
    for (const ValueIds& result : results) same = same && Resolve(result[i]) == Resolve(results[0][i]);
    if (same) forward_[joins[i]] = Resolve(results[0][i]);
  }
  frame.Define(instruction.id(), joins);
  return absl::OkStatus();
}

}  // namespace hlod::engine
