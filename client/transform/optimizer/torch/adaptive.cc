// PyTorch's optimizers that adapt each parameter's rate: Adadelta, Adamax, NAdam, RAdam. Counts and their
// powers, which are doubles on the host in PyTorch, are f64 tensors here, so that steps do not recompile.
#include "client/transform/optimizer/torch/kind.h"
#include "client/transform/optimizer/torch/moments.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"

namespace hlod {
namespace {

using optim::MovingAverage;
using optim::Tensors;
using optim::ZerosFor;

// Returns the first state: `moments` tensors of zeros per parameter, with its shape, then the count of steps.
Tensors MomentsAndCount(const Tensors& params, size_t moments) {
  Tensors state;
  for (const Tensor& param : params) {
    for (size_t i = 0; i < moments; ++i) state.push_back(ZerosFor(param));
  }
  state.push_back(optim::ZeroCount(params));
  return state;
}

// Applies a rule to each parameter separately. The moments of a parameter are adjacent in the state.
class PerParameter : public optim::Link {
 public:
  using Rule = std::function<Tensor(const Tensor& gradient, Tensor* moments, const Tensor& count)>;
  PerParameter(size_t moments, Rule rule) : moments_(moments), rule_(std::move(rule)) {}

  Tensors Init(const Tensors& params) const override { return MomentsAndCount(params, moments_); }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors next = state;
    next.back() = optim::Increment(state.back());
    const Tensor count = next.back().To(kF64);
    for (size_t i = 0; i < updates.size(); ++i) {
      if (updates[i].defined()) updates[i] = rule_(updates[i], &next[i * moments_], count);
    }
    return next;
  }

 private:
  const size_t moments_;
  const Rule rule_;
};

// Returns the optimizer that subtracts `rate` times the rule's result from each parameter.
optim::Optimizer By(double rate, double weight_decay, size_t moments, PerParameter::Rule rule) {
  return optim::Chain({optim::DecayedIf(weight_decay), optim::Make<PerParameter>(moments, std::move(rule)),
                       optim::ScaleByLearningRate(rate)});
}

// Converts an f64 scalar to the type of the gradient.
Tensor As(const Tensor& scalar, const Tensor& gradient) { return scalar.To(gradient.dtype()); }

optim::Optimizer AdadeltaRule(const AdadeltaOptions& o) {
  return By(o.lr, o.weight_decay, 2, [=](const Tensor& gradient, Tensor* moments, const Tensor&) {
    moments[0] = MovingAverage(moments[0], Square(gradient), o.rho);
    const Tensor step = Sqrt(moments[1] + o.eps) / Sqrt(moments[0] + o.eps) * gradient;
    moments[1] = MovingAverage(moments[1], Square(step), o.rho);
    return step;
  });
}

optim::Optimizer AdamaxRule(const AdamaxOptions& o) {
  return By(o.lr, o.weight_decay, 2, [=](const Tensor& gradient, Tensor* moments, const Tensor& count) {
    moments[0] = MovingAverage(moments[0], gradient, o.beta1);
    moments[1] = Maximum(moments[1] * o.beta2, Abs(gradient) + o.eps);
    return moments[0] / moments[1] / As(1 - Pow(o.beta1, count), gradient);
  });
}

// Returns the momentum of step `count`, which grows towards beta1.
Tensor NesterovMomentum(const NAdamOptions& o, const Tensor& count) {
  return (1 - Pow(0.96, count * o.momentum_decay) * 0.5) * o.beta1;
}

// The third moment is the product of all momenta so far, the same in each element. It is stored minus 1, so
// that it begins at 0.
optim::Optimizer NAdamRule(const NAdamOptions& o) {
  return By(o.lr, o.weight_decay, 3, [=](const Tensor& gradient, Tensor* moments, const Tensor& count) {
    const Tensor momentum = As(NesterovMomentum(o, count), gradient),
                 next = As(NesterovMomentum(o, count + 1), gradient);
    moments[0] = MovingAverage(moments[0], gradient, o.beta1);
    moments[1] = MovingAverage(moments[1], Square(gradient), o.beta2);
    const Tensor product = (moments[2] + 1) * momentum;
    moments[2] = product - 1;
    const Tensor scale = Sqrt(moments[1] / As(1 - Pow(o.beta2, count), gradient)) + o.eps;
    return (gradient * ((1 - momentum) / (1 - product)) + moments[0] * (next / (1 - product * next))) / scale;
  });
}

// In the first steps, when the variance cannot be estimated, the update is the first moment alone.
optim::Optimizer RAdamRule(const RAdamOptions& o) {
  const double longest = 2 / (1 - o.beta2) - 1;
  return By(o.lr, o.weight_decay, 2, [=](const Tensor& gradient, Tensor* moments, const Tensor& count) {
    moments[0] = MovingAverage(moments[0], gradient, o.beta1);
    moments[1] = MovingAverage(moments[1], Square(gradient), o.beta2);
    const Tensor mean = moments[0] / As(1 - Pow(o.beta1, count), gradient);
    const Tensor power = Pow(o.beta2, count), length = longest - count * 2 * power / (1 - power);
    const Tensor known = Gt(length, 5);
    // 6 keeps the argument of the root positive in elements whose length is not used.
    const Tensor counted = Where(known, length, 6.0);
    const Tensor rectified =
        Sqrt((counted - 4) * (counted - 2) * longest / ((longest - 4) * (longest - 2) * counted));
    const Tensor adapted = mean * As(rectified * Sqrt(1 - power), gradient) / (Sqrt(moments[1]) + o.eps);
    return Where(known, adapted, mean);
  });
}

constexpr Setting<AdadeltaOptions> kAdadeltaSettings[] = {
    {"lr", Limit::kNotNegative, &AdadeltaOptions::lr},
    {"rho", Limit::kUpToOne, &AdadeltaOptions::rho},
    {"eps", Limit::kNotNegative, &AdadeltaOptions::eps},
    {"weight_decay", Limit::kNotNegative, &AdadeltaOptions::weight_decay},
};
constexpr Setting<AdamaxOptions> kAdamaxSettings[] = {
    {"lr", Limit::kNotNegative, &AdamaxOptions::lr},
    {"beta1", Limit::kBelowOne, &AdamaxOptions::beta1},
    {"beta2", Limit::kBelowOne, &AdamaxOptions::beta2},
    {"eps", Limit::kNotNegative, &AdamaxOptions::eps},
    {"weight_decay", Limit::kNotNegative, &AdamaxOptions::weight_decay},
};
constexpr Setting<NAdamOptions> kNAdamSettings[] = {
    {"lr", Limit::kNotNegative, &NAdamOptions::lr},
    {"beta1", Limit::kBelowOne, &NAdamOptions::beta1},
    {"beta2", Limit::kBelowOne, &NAdamOptions::beta2},
    {"eps", Limit::kNotNegative, &NAdamOptions::eps},
    {"weight_decay", Limit::kNotNegative, &NAdamOptions::weight_decay},
    {"momentum_decay", Limit::kNotNegative, &NAdamOptions::momentum_decay},
};
constexpr Setting<RAdamOptions> kRAdamSettings[] = {
    {"lr", Limit::kNotNegative, &RAdamOptions::lr},
    {"beta1", Limit::kBelowOne, &RAdamOptions::beta1},
    {"beta2", Limit::kBelowOne, &RAdamOptions::beta2},
    {"eps", Limit::kNotNegative, &RAdamOptions::eps},
    {"weight_decay", Limit::kNotNegative, &RAdamOptions::weight_decay},
};

constexpr OptimizerKind<AdadeltaOptions> kAdadelta = {"adadelta", AdadeltaRule, kAdadeltaSettings};
constexpr OptimizerKind<AdamaxOptions> kAdamax = {"adamax", AdamaxRule, kAdamaxSettings};
constexpr OptimizerKind<NAdamOptions> kNAdam = {"nadam", NAdamRule, kNAdamSettings};
constexpr OptimizerKind<RAdamOptions> kRAdam = {"radam", RAdamRule, kRAdamSettings};

}  // namespace

template class OptimizerOf<AdadeltaOptions>;
template class OptimizerOf<AdamaxOptions>;
template class OptimizerOf<NAdamOptions>;
template class OptimizerOf<RAdamOptions>;

Adadelta::Adadelta(std::vector<Tensor> parameters, const AdadeltaOptions& options, Caller caller)
    : Adadelta(std::vector<ParamGroup<AdadeltaOptions>>{std::move(parameters)}, options, caller) {}
Adadelta::Adadelta(std::vector<ParamGroup<AdadeltaOptions>> groups, const AdadeltaOptions& defaults,
                   Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAdadelta, caller) {}
Adamax::Adamax(std::vector<Tensor> parameters, const AdamaxOptions& options, Caller caller)
    : Adamax(std::vector<ParamGroup<AdamaxOptions>>{std::move(parameters)}, options, caller) {}
Adamax::Adamax(std::vector<ParamGroup<AdamaxOptions>> groups, const AdamaxOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAdamax, caller) {}
NAdam::NAdam(std::vector<Tensor> parameters, const NAdamOptions& options, Caller caller)
    : NAdam(std::vector<ParamGroup<NAdamOptions>>{std::move(parameters)}, options, caller) {}
NAdam::NAdam(std::vector<ParamGroup<NAdamOptions>> groups, const NAdamOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kNAdam, caller) {}
RAdam::RAdam(std::vector<Tensor> parameters, const RAdamOptions& options, Caller caller)
    : RAdam(std::vector<ParamGroup<RAdamOptions>>{std::move(parameters)}, options, caller) {}
RAdam::RAdam(std::vector<ParamGroup<RAdamOptions>> groups, const RAdamOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kRAdam, caller) {}

}  // namespace hlod
