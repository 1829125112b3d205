// Collectives of a program that runs on one device: device 0 is the only participant, and receives its own
// values.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/rules/rules.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod::evaluator {

using hlo::Instruction;
using hlo::Literal;

namespace {

// Returns the value itself for one operand, a tuple for several.
Value OneOrTuple(std::vector<Value> values) {
  return values.size() == 1 ? std::move(values[0]) : Value::Tuple(std::move(values));
}

}  // namespace

absl::StatusOr<Value> EachOperand(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  RETURN_IF_ERROR(hlo::CheckOneParticipant(instruction));
  return OneOrTuple(std::move(operands));
}

absl::StatusOr<Value> AllGatherStart(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  RETURN_IF_ERROR(hlo::CheckOneParticipant(instruction));
  const Value both = OneOrTuple(std::move(operands));
  return Value::Tuple({both, both});
}

// Runs all-to-all along a dimension, or with one operand per device.
absl::StatusOr<Value> PiecesOf(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  RETURN_IF_ERROR(hlo::CheckOneParticipant(instruction));
  if (instruction.shape().IsTuple()) return Value::Tuple(std::move(operands));
  return std::move(operands[0]);
}

// A device without a source receives zeros.
absl::StatusOr<Value> CollectivePermute(Evaluation&, Instruction instruction, std::vector<Value>& operands) {
  RETURN_IF_ERROR(hlo::CheckOneParticipant(instruction));
  if (instruction.attributes<hlo::PermuteAttributes>().pairs.empty()) {
    for (Value& operand : operands) operand = Value::Own(Literal(operand.array->shape()));
  }
  return OneOrTuple(std::move(operands));
}

absl::StatusOr<Value> CollectivePermuteStart(Evaluation& evaluation, Instruction instruction,
                                             std::vector<Value>& operands) {
  std::vector<Value> elements = {OneOrTuple(operands)};
  ASSIGN_OR_RETURN(Value result, CollectivePermute(evaluation, instruction, operands));
  elements.push_back(std::move(result));
  const std::vector<hlo::Shape>& shapes = instruction.shape().tuple;
  for (size_t i = elements.size(); i < shapes.size(); ++i) elements.push_back(Value::Own(Literal(shapes[i])));
  return Value::Tuple(std::move(elements));
}

// Copies rows [input_offsets[i], + send_sizes[i]) of the input to output_offsets[i] of the output, in order.
// Rows outside either array are left out.
absl::StatusOr<Literal> RaggedAllToAll(Evaluation& evaluation, Instruction instruction, Operands operands) {
  RETURN_IF_ERROR(hlo::CheckOneParticipant(instruction));
  Literal result = operands.Take(1);
  const Literal& input = operands[0];
  const int64_t from_rows = input.shape().dims[0], to_rows = result.shape().dims[0];
  if (from_rows == 0 || to_rows == 0) return result;
  const auto row_bytes = static_cast<int64_t>(input.bytes().size()) / from_rows;
  for (int64_t i = 0; i < operands[2].element_count(); ++i) {
    const int64_t from = IndexAt(operands[2], i), to = IndexAt(operands[4], i);
    if (from < 0 || to < 0 || from >= from_rows || to >= to_rows) continue;
    const int64_t rows = std::min({IndexAt(operands[3], i), from_rows - from, to_rows - to});
    if (rows <= 0) continue;
    RETURN_IF_ERROR(evaluation.Tick(rows * row_bytes));
    std::memcpy(result.bytes().data() + to * row_bytes, input.bytes().data() + from * row_bytes,
                static_cast<size_t>(rows * row_bytes));
  }
  return result;
}

}  // namespace hlod::evaluator
