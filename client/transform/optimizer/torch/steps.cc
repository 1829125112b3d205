// PyTorch's Rprop and ASGD. Rprop keeps a step size per element, ASGD the average of the parameter's past
// values.
#include "absl/strings/str_cat.h"
#include "client/transform/optimizer/torch/kind.h"
#include "client/transform/optimizer/torch/moments.h"
#include "common/base/text/count.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/shape.h"

namespace hlod {
namespace {

using optim::Tensors;

// State: the previous gradients (0 after a change of sign), then the step sizes.
class RpropLink : public optim::Link {
 public:
  explicit RpropLink(const RpropOptions& options) : o_(options) {}

  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) state.push_back(optim::ZerosFor(param));
    for (const Tensor& param : params) state.push_back(optim::ZerosFor(param) + o_.lr);
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const size_t n = updates.size();
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      const Tensor agreement = updates[i] * state[i], turned = Lt(agreement, 0);
      const Tensor longer = Where(Gt(agreement, 0), state[n + i] * o_.eta_plus, state[n + i]);
      next[n + i] = Clamp(Where(turned, state[n + i] * o_.eta_minus, longer), Operand(o_.step_min),
                          Operand(o_.step_max));
      next[i] = Where(turned, 0, updates[i]);
      updates[i] = -(Sign(next[i]) * next[n + i]);
    }
    return next;
  }

 private:
  const RpropOptions o_;
};

// State: the averages, then the rate, the weight of the newest value in the average, and the count.
class AsgdLink : public optim::Link {
 public:
  explicit AsgdLink(const AsgdOptions& options) : o_(options) {}

  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) state.push_back(optim::ZerosFor(param));
    const Tensor count = optim::ZeroCount(params), zero = count.To(kF32);
    state.insert(state.end(), {zero + o_.lr, zero + 1.0, count});
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const override {
    const size_t n = updates.size();
    const Tensor &rate = state[n], &weight = state[n + 1];
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      const PrimitiveType type = params[i].dtype();
      updates[i] = -((params[i] * o_.lambd + updates[i]) * rate.To(type));
      const Tensor now = params[i] + updates[i];
      next[i] = Where(Eq(weight, 1), now, state[i] + (now - state[i]) * weight.To(type));
    }
    next[n + 2] = optim::Increment(state[n + 2]);
    const Tensor count = next[n + 2].To(kF64);
    next[n] = (o_.lr / Pow(1 + count * (o_.lambd * o_.lr), o_.alpha)).To(kF32);
    next[n + 1] = (1 / ClampMin(count - o_.t0, 1)).To(kF32);
    return next;
  }

 private:
  const AsgdOptions o_;
};

optim::Optimizer RpropRule(const RpropOptions& options) { return optim::Make<RpropLink>(options); }
optim::Optimizer AsgdRule(const AsgdOptions& options) {
  return optim::Chain({optim::DecayedIf(options.weight_decay), optim::Make<AsgdLink>(options)});
}

constexpr Setting<RpropOptions> kRpropSettings[] = {
    {"lr", Limit::kNotNegative, &RpropOptions::lr},
    {"eta_minus", Limit::kInsideOne, &RpropOptions::eta_minus},
    {"eta_plus", Limit::kAboveOne, &RpropOptions::eta_plus},
    {"step_min", Limit::kNone, &RpropOptions::step_min},
    {"step_max", Limit::kNone, &RpropOptions::step_max},
};
constexpr Setting<AsgdOptions> kAsgdSettings[] = {
    {"lr", Limit::kNotNegative, &AsgdOptions::lr},
    {"lambd", Limit::kNone, &AsgdOptions::lambd},
    {"alpha", Limit::kNone, &AsgdOptions::alpha},
    {"t0", Limit::kNone, &AsgdOptions::t0},
    {"weight_decay", Limit::kNotNegative, &AsgdOptions::weight_decay},
};

constexpr OptimizerKind<RpropOptions> kRprop = {"rprop", RpropRule, kRpropSettings};
constexpr OptimizerKind<AsgdOptions> kAsgd = {"asgd", AsgdRule, kAsgdSettings};

}  // namespace

template class OptimizerOf<RpropOptions>;
template class OptimizerOf<AsgdOptions>;

Rprop::Rprop(std::vector<Tensor> parameters, const RpropOptions& options, Caller caller)
    : Rprop(std::vector<ParamGroup<RpropOptions>>{std::move(parameters)}, options, caller) {}
Rprop::Rprop(std::vector<ParamGroup<RpropOptions>> groups, const RpropOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kRprop, caller) {}
Asgd::Asgd(std::vector<Tensor> parameters, const AsgdOptions& options, Caller caller)
    : Asgd(std::vector<ParamGroup<AsgdOptions>>{std::move(parameters)}, options, caller) {}
Asgd::Asgd(std::vector<ParamGroup<AsgdOptions>> groups, const AsgdOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAsgd, caller) {}

Tensor Asgd::Average(size_t i, Caller caller) const {
  RequireThat(i < parameters().size(),
              absl::StrCat("parameter ", i, " is asked for; the optimizer has ",
                           CountText(static_cast<int64_t>(parameters().size()), "parameter")),
              "average", caller);
  const Tensor& parameter = parameters()[i];
  if (state_of(i) == nullptr) return parameter.Detach();
  const Tensor& average = state_of(i)->parts[1][0];
  return hlo::IsComplex(parameter.dtype()) ? ViewAsComplex({average, caller}) : average;
}

}  // namespace hlod
