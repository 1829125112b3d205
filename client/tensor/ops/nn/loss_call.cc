// Checks of the arguments of losses, as in PyTorch.
#include "client/tensor/ops/nn/loss.h"

#include "client/tensor/dispatch/accepted_indices.h"
#include "client/tensor/dispatch/promotion.h"
#include "client/tensor/ops/shape/known.h"

namespace hlod::lazy {

LossCall::LossCall(const char* name, std::vector<const Tensor*> arguments, const Caller& caller)
    : operation_{name, name, Promotion::kNone, "a loss", AcceptedBy(name)}, caller_(caller), scope_(caller) {
  std::vector<Promoted> promoted;
  for (const Tensor* argument : arguments) {
    TensorOf(operation_, Operand(*argument, caller_));
    operands_.emplace_back(*argument, caller_);
    promoted.push_back({argument->dtype(), Promoted::Rank::kTensor});
  }
  Explain(operation_, operands_, caller_, [&] { CheckAccepted(operation_, ResultType(promoted)); });
}

void LossCall::RequireSame(const Tensor& x, const Tensor& y) const {
  Require(x.dims() == y.dims(), "the target's shape %s is not the input's shape %s", ListText(y.dims()),
          ListText(x.dims()));
}

void LossCall::RequireBroadcast(const Tensor& x, const Tensor& y) const {
  Explain(operation_, operands_, caller_, [&] { BroadcastDims(x.dims(), y.dims()); });
}

void LossCall::RequireClasses(const Tensor& x, const Tensor& target, const Tensor& weight) const {
  Require(x.rank() >= 1, "the input is a number, not scores of classes");
  Require(hlo::IsInteger(target.dtype()), "the target is %s, not classes of an integer type",
          hlo::Name(target.dtype()));
  Dims wanted = x.dims();
  wanted.erase(wanted.begin() + (x.rank() < 2 ? 0 : 1));
  Require(target.dims() == wanted, "the target's shape %s is not %s, one class for each of the input %s",
          ListText(target.dims()), ListText(wanted), ListText(x.dims()));
  if (!weight.defined()) return;
  const int64_t classes = x.size(x.rank() < 2 ? 0 : 1);
  Require(weight.dims() == Dims{classes}, "the weight's shape %s is not one number for each of %d classes",
          ListText(weight.dims()), classes);
}

void LossCall::RequireClassType(const Tensor& target) const {
  Explain(operation_, operands_, caller_,
          [&] { CheckIndexType(operation_.pytorch, 1, target.dtype(), target.numel() == 0); });
}

void LossCall::CheckClasses(const Tensor& target, int64_t count, std::optional<int64_t> allowed) const {
  RequireClassType(target);
  const std::optional<Literal> known = KnownValue(target, caller_);
  if (!known.has_value()) return;
  const auto outside = Outside(*known, 0, count, allowed);
  Require(!outside, "the target's class %d is out of range for %d classes", outside.value_or(0), count);
}

}  // namespace hlod::lazy
