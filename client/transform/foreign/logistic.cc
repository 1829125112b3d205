// Recognizes 1 / (1 + exp(-x)).
#include "client/transform/foreign/logistic.h"

#include <algorithm>

namespace hlod::lazy {
namespace {

// Returns true when all elements are the constant 1.
bool IsOne(const hlo::Computation& computation, hlo::NodeId node) {
  hlo::Instruction instruction = computation[node];
  while (instruction.opcode() == hlo::kBroadcast || instruction.opcode() == hlo::kReshape ||
         instruction.opcode() == hlo::kConvert) {
    instruction = instruction.operand(0);
  }
  if (instruction.opcode() != hlo::kConstant) return false;
  const hlo::Literal& literal =
      computation.tables().literal(instruction.attributes<hlo::ConstantAttributes>().literal);
  bool one = false;
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    const auto values = literal.data<T>();
    one = !values.empty() &&
          std::all_of(values.begin(), values.end(), [](const T& value) { return value == T(1); });
  });
  return one;
}

}  // namespace

std::optional<hlo::NodeId> AppendAsLogistic(hlo::Computation& to, const hlo::Instruction& divide,
                                            absl::Span<const hlo::NodeId> operands) {
  if (divide.opcode() != hlo::kDivide || !hlo::IsFloat(divide.shape().type) || !IsOne(to, operands[0])) {
    return std::nullopt;
  }
  const hlo::Instruction sum = to[operands[1]];
  if (sum.opcode() != hlo::kAdd) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (!IsOne(to, sum.operands()[i]) || sum.operand(1 - i).opcode() != hlo::kExponential) continue;
    const hlo::Instruction negative = sum.operand(1 - i).operand(0);
    if (negative.opcode() != hlo::kNegate) continue;
    const hlo::NodeId x = negative.operands()[0];
    return to.Append(hlo::kLogistic, sum.shape_id(), sum.operand(1 - i).attributes_id(), {x});
  }
  return std::nullopt;
}

}  // namespace hlod::lazy
