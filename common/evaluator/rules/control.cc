// Tuples, identities, calls, loops and branches.
#include <algorithm>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"
#include "common/lapack/routine_call.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

absl::StatusOr<Value> Identity(Evaluation&, Instruction, std::vector<Value>& operands) {
  return std::move(operands[0]);
}

absl::StatusOr<Value> TupleOf(Evaluation&, Instruction, std::vector<Value>& operands) {
  return Value::Tuple(std::move(operands));
}

absl::StatusOr<Value> GetTupleElement(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  return (*operands[0].tuple)[instruction.attributes<hlo::TupleIndexAttributes>().index];
}

absl::StatusOr<Value> AfterAll(Evaluation&, Instruction instruction, std::vector<Value>&) {
  return Value::Own(Literal(instruction.shape()));
}

namespace {

// Returns zeros of any shape, for contexts that no instruction reads.
Value Zeros(const hlo::Shape& shape) { return Value::Own(Literal(shape)); }

}  // namespace

// Returns (copy, original, context). The copy is complete at once.
absl::StatusOr<Value> CopyStart(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  return Value::Tuple({operands[0], operands[0], Zeros(instruction.shape().tuple[2])});
}

// Returns ((operands), result, context...). The computation runs here and is complete at once.
absl::StatusOr<Value> AsyncStart(Evaluation& evaluation, Instruction instruction,
                                 std::vector<Value>& operands) {
  std::vector<Value> elements = {Value::Tuple(operands)};
  ASSIGN_OR_RETURN(Value result, evaluation.Call(instruction.called()[0], std::move(operands)));
  elements.push_back(std::move(result));
  const std::vector<hlo::Shape>& shapes = instruction.shape().tuple;
  for (size_t i = elements.size(); i < shapes.size(); ++i) elements.push_back(Zeros(shapes[i]));
  return Value::Tuple(std::move(elements));
}

absl::StatusOr<Value> FirstElement(Evaluation&, Instruction, std::vector<Value>& operands) {
  return (*operands[0].tuple)[0];
}

absl::StatusOr<Value> SecondElement(Evaluation&, Instruction, std::vector<Value>& operands) {
  return (*operands[0].tuple)[1];
}

absl::StatusOr<Value> CallRule(Evaluation& evaluation, Instruction instruction,
                               std::vector<Value>& operands) {
  if (lapack::RoutineOf(instruction)) return LapackCall(evaluation, instruction, operands);
  return evaluation.Call(instruction.called()[0], std::move(operands));
}

absl::StatusOr<Value> While(Evaluation& evaluation, Instruction instruction, std::vector<Value>& operands) {
  const hlo::ComputationId body = instruction.called()[0], condition = instruction.called()[1];
  Value state = std::move(operands[0]);
  operands.clear();
  while (true) {
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    std::vector<Value> arguments(1, state);
    ASSIGN_OR_RETURN(Value again, evaluation.Call(condition, std::move(arguments)));
    if (!again.array->data<bool>()[0]) return state;
    arguments.clear();
    arguments.push_back(std::move(state));
    ASSIGN_OR_RETURN(state, evaluation.Call(body, std::move(arguments)));
  }
}

// For a pred selector, true selects the first branch; for s32, an index out of range selects the last.
absl::StatusOr<Value> Conditional(Evaluation& evaluation, Instruction instruction,
                                  std::vector<Value>& operands) {
  const Literal& selector = *operands[0].array;
  const auto last = static_cast<int64_t>(instruction.called().size()) - 1;
  int64_t branch;
  if (selector.shape().type == hlo::kPred) {
    branch = selector.data<bool>()[0] ? 0 : 1;
  } else {
    branch = IndexAt(selector, 0);
  }
  if (branch < 0 || branch > last) branch = last;
  std::vector<Value> arguments;
  arguments.push_back(std::move(operands[1 + branch]));
  operands.clear();  // The operands of the other branches can be freed.
  return evaluation.Call(instruction.called()[branch], std::move(arguments));
}

}  // namespace hlod::evaluator
