// Shape rules of calls and control flow: signatures of the called computations.
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// Returns an error unless the parameters of called computation `c` are exactly `operands`.
absl::Status ExpectTakesOperands(const InferenceInput& in, size_t c,
                                 absl::Span<const Shape* const> operands) {
  const ProgramShape& callee = *in.called[c];
  if (callee.parameters.size() != operands.size()) {
    return InvalidArgument("Computation %d called by %s takes (%d) parameters; (%d) are given.", c,
                           OpName(in), callee.parameters.size(), operands.size());
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!Compatible(callee.parameters[i], *operands[i])) {
      return InvalidArgument(
          "Parameter %d shape (%s) of computation %d called by %s differs from the operand's (%s).", i,
          Text(callee.parameters[i]), c, OpName(in), Text(*operands[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferWhile(const InferenceInput& in) {
  constexpr size_t kBody = 0, kCondition = 1;
  RETURN_IF_ERROR(ExpectTakesOperands(in, kBody, in.operands));
  RETURN_IF_ERROR(ExpectTakesOperands(in, kCondition, in.operands));
  const Shape &init = Operand(in, 0), &next = in.called[kBody]->result,
              &condition = in.called[kCondition]->result;
  if (!Compatible(next, init)) {
    return InvalidArgument("The result shape (%s) of the body of while differs from operand 0 shape (%s).",
                           Text(next), Text(init));
  }
  if (!condition.IsScalar() || condition.type != kPred) {
    return InvalidArgument("The result shape (%s) of the condition of while is not (pred[]).",
                           Text(condition));
  }
  return WithoutLayout(init);
}

absl::StatusOr<Shape> InferConditional(const InferenceInput& in) {
  const size_t branches = in.called.size();
  if (branches == 0 || in.operands.size() != branches + 1) {
    return InvalidArgument("A conditional of (%d) branches has (%d) operands.", branches, in.operands.size());
  }
  const Shape& selector = Operand(in, 0);
  const bool fits =
      selector.IsScalar() && (selector.type == kS32 || (selector.type == kPred && branches == 2));
  if (!fits) {
    return InvalidArgument("Operand 0 shape (%s) of conditional does not select among (%d) branches.",
                           Text(selector), branches);
  }
  for (size_t c = 0; c < branches; ++c) {
    RETURN_IF_ERROR(ExpectTakesOperands(in, c, in.operands.subspan(c + 1, 1)));
    if (!Compatible(in.called[c]->result, in.called[0]->result)) {
      return InvalidArgument(
          "The result shape (%s) of branch %d of conditional differs from that of branch 0 (%s).",
          Text(in.called[c]->result), c, Text(in.called[0]->result));
    }
  }
  return WithoutLayout(in.called[0]->result);
}

absl::StatusOr<Shape> InferCall(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectTakesOperands(in, 0, in.operands));
  return WithoutLayout(in.called[0]->result);
}

absl::StatusOr<Shape> InferCustomCall(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  return WithoutLayout(*declared);
}

}  // namespace hlod::hlo
