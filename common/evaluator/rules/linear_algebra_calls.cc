// Custom calls, and calls, that are LAPACK routines. Solves the problems of the batch one after another.
#include <optional>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/rules/rules.h"
#include "common/lapack/call.h"
#include "common/lapack/routine_call.h"

namespace hlod::evaluator {

absl::StatusOr<Value> LapackCall(Evaluation& evaluation, hlo::Instruction instruction,
                                 std::vector<Value>& operands) {
  std::vector<const hlo::Shape*> operand_shapes, result_shapes;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i)
    operand_shapes.push_back(&instruction.operand(i).shape());
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(instruction.shape())) result_shapes.push_back(leaf.shape);
  const std::optional<hlo::CustomCallAttributes> named = lapack::RoutineOf(instruction);
  const auto& routine = named ? *named : instruction.attributes<hlo::CustomCallAttributes>();
  ASSIGN_OR_RETURN(const lapack::Call call,
                   lapack::Call::Make(routine.target, operand_shapes, result_shapes, routine.backend_config));
  ASSIGN_OR_RETURN(hlo::Literal result, evaluation.Allocate(instruction.shape()));
  std::vector<const std::byte*> inputs;
  for (const Value& operand : operands) inputs.push_back(operand.array->bytes().data());
  std::vector<std::byte*> outputs;
  if (instruction.shape().IsTuple()) {
    for (hlo::Literal& element : result.elements()) outputs.push_back(element.bytes().data());
  } else {
    outputs.push_back(result.bytes().data());
  }
  std::vector<std::byte> scratch(call.scratch_bytes() + 64);
  std::byte* const aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64;
  const std::unique_ptr<lapack::Call::Problem> place = call.Place(aligned);
  for (int64_t problem = 0; problem < call.batch(); ++problem) {
    RETURN_IF_ERROR(evaluation.CheckInterrupt());
    call.Run(inputs.data(), outputs.data(), problem, *place);
  }
  return Value::Own(std::move(result));
}

}  // namespace hlod::evaluator
