// Shape rules of tokens, of transfers to the host, and of asynchronous pairs (start and done).
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

absl::Status ExpectToken(const InferenceInput& in, size_t i) {
  if (Operand(in, i).IsToken()) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s is not a token.", i, Text(Operand(in, i)), OpName(in));
}

// Returns (data, u32[], token[]).
Shape TransferShape(const Shape& data) {
  return Shape::Tuple({WithoutLayout(data), Shape::Scalar(kU32), Shape::Token()});
}

absl::Status ExpectTransfer(const InferenceInput& in) {
  const Shape& operand = Operand(in, 0);
  if (operand.IsTuple() && operand.tuple.size() == 3 && operand.tuple[2].IsToken()) return absl::OkStatus();
  return InvalidArgument("Operand 0 shape (%s) of %s is not a transfer: (data, u32[], token[]).",
                         Text(operand), OpName(in));
}

}  // namespace

absl::StatusOr<Shape> InferAddDependency(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectToken(in, 1));
  return WithoutLayout(Operand(in, 0));
}

// The result is (copy, original, context).
absl::StatusOr<Shape> InferCopyStart(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape data = WithoutLayout(Operand(in, 0));
  return Shape::Tuple({data, data, Shape::Scalar(kU32)});
}

absl::StatusOr<Shape> InferCopyDone(const InferenceInput& in) {
  const Shape& started = Operand(in, 0);
  if (started.IsTuple() && started.tuple.size() == 3) return WithoutLayout(started.tuple[0]);
  return InvalidArgument("Operand 0 shape (%s) of copy-done is not that of a copy-start.", Text(started));
}

// The result is ((operands...), result, context...), with the context that the instruction states.
absl::StatusOr<Shape> InferAsyncStart(const InferenceInput& in) {
  const ProgramShape& callee = *in.called[0];
  bool fits = callee.parameters.size() == in.operands.size();
  std::vector<Shape> operands;
  for (size_t i = 0; fits && i < in.operands.size(); ++i) {
    fits = Compatible(callee.parameters[i], Operand(in, i));
    operands.push_back(WithoutLayout(Operand(in, i)));
  }
  if (!fits) {
    return InvalidArgument("The computation called by async-start does not take its (%d) operands.",
                           in.operands.size());
  }
  std::vector<Shape> elements = {Shape::Tuple(std::move(operands)), WithoutLayout(callee.result)};
  if (in.declared != nullptr && in.declared->IsTuple()) {
    for (size_t i = 2; i < in.declared->tuple.size(); ++i) {
      if (!in.declared->tuple[i].IsScalar()) {
        return InvalidArgument("The context (%s) of async-start is not a scalar.",
                               Text(in.declared->tuple[i]));
      }
      elements.push_back(WithoutLayout(in.declared->tuple[i]));
    }
  }
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> InferAsyncUpdate(const InferenceInput& in) {
  RETURN_IF_ERROR(InferSecondElement(in).status());
  return WithoutLayout(Operand(in, 0));
}

absl::StatusOr<Shape> InferSecondElement(const InferenceInput& in) {
  const Shape& started = Operand(in, 0);
  if (started.IsTuple() && started.tuple.size() >= 2) return WithoutLayout(started.tuple[1]);
  return InvalidArgument("Operand 0 shape (%s) of %s is not that of an instruction that was started.",
                         Text(started), OpName(in));
}

absl::StatusOr<Shape> InferInfeed(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  RETURN_IF_ERROR(ExpectToken(in, 0));
  if (declared->IsTuple() && declared->tuple.size() == 2 && declared->tuple[1].IsToken())
    return WithoutLayout(*declared);
  return InvalidArgument("The stated shape (%s) of infeed is not (data, token[]).", Text(*declared));
}

absl::StatusOr<Shape> InferOutfeed(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectToken(in, 1));
  const Shape& sent = AttributesOf<OutfeedAttributes>(in).shape;
  if (!Compatible(sent, Operand(in, 0))) {
    return InvalidArgument("The outfeed_shape (%s) differs from operand 0 shape (%s).", Text(sent),
                           Text(Operand(in, 0)));
  }
  return Shape::Token();
}

absl::StatusOr<Shape> InferSend(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectToken(in, 1));
  return TransferShape(Operand(in, 0));
}

absl::StatusOr<Shape> InferSendDone(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectTransfer(in));
  return Shape::Token();
}

absl::StatusOr<Shape> InferRecv(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  RETURN_IF_ERROR(ExpectToken(in, 0));
  if (declared->IsTuple() && declared->tuple.size() == 3) return TransferShape(declared->tuple[0]);
  return InvalidArgument("The stated shape (%s) of recv is not (data, u32[], token[]).", Text(*declared));
}

absl::StatusOr<Shape> InferRecvDone(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectTransfer(in));
  return Shape::Tuple({WithoutLayout(Operand(in, 0).tuple[0]), Shape::Token()});
}

}  // namespace hlod::hlo
