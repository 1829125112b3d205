// The kinds whose rules are chains of links: SGD, Adam, AdamW, RMSprop, Adagrad.
#include "absl/strings/str_cat.h"
#include "client/transform/optimizer/torch/kind.h"
#include "client/transform/optimizer/torch/moments.h"

namespace hlod {
namespace {

// Includes a link for the decay even when it is 0, so that it can change later.
optim::Optimizer Decayed(double weight_decay, const optim::Optimizer& update) {
  return optim::Chain({optim::DecayedIf(weight_decay), update});
}

optim::Optimizer SgdRule(const SgdOptions& options) {
  if (options.dampening == 0 || options.momentum == 0) {
    const std::optional<double> momentum =
        options.momentum == 0 ? std::optional<double>() : std::optional<double>(options.momentum);
    return Decayed(options.weight_decay, optim::Sgd(options.lr, momentum, options.nesterov));
  }
  return Decayed(options.weight_decay,
                 optim::Chain({optim::DampenedTrace(options.momentum, options.dampening),
                               optim::ScaleByLearningRate(options.lr)}));
}
void CheckSgd(const SgdOptions& options, const Caller& caller) {
  RequireThat(!options.nesterov || (options.momentum > 0 && options.dampening == 0),
              absl::StrCat("nesterov takes a momentum above 0, not ", options.momentum,
                           ", and a dampening of 0, not ", options.dampening),
              "sgd", caller);
}

template <typename Options>
optim::Optimizer Moments(const Options& options) {
  return optim::ScaleByTorchAdam(options.beta1, options.beta2, options.eps, options.amsgrad);
}
optim::Optimizer AdamRule(const AdamOptions& options) {
  return Decayed(options.weight_decay,
                 optim::Chain({Moments(options), optim::ScaleByLearningRate(options.lr)}));
}
optim::Optimizer AdamWRule(const AdamWOptions& options) {
  return optim::Chain({Moments(options), optim::AddDecayedWeights(options.weight_decay),
                       optim::ScaleByLearningRate(options.lr)});
}

optim::Optimizer RmsPropRule(const RmsPropOptions& options) {
  return Decayed(options.weight_decay,
                 optim::Chain({optim::ScaleByRootMeanSquare(options.alpha, options.eps, options.centered),
                               options.momentum == 0 ? optim::Identity() : optim::Trace(options.momentum),
                               optim::ScaleByLearningRate(options.lr)}));
}

optim::Optimizer AdagradRule(const AdagradOptions& options) {
  return Decayed(options.weight_decay,
                 optim::Chain({optim::ScaleBySumOfSquares(options.initial_accumulator_value, options.eps,
                                                          options.lr_decay),
                               optim::ScaleByLearningRate(options.lr)}));
}

constexpr Setting<SgdOptions> kSgdSettings[] = {
    {"lr", Limit::kNotNegative, &SgdOptions::lr},
    {"momentum", Limit::kNotNegative, &SgdOptions::momentum},
    {"nesterov", Limit::kNone, nullptr, &SgdOptions::nesterov},
    {"weight_decay", Limit::kNotNegative, &SgdOptions::weight_decay},
    {"dampening", Limit::kNone, &SgdOptions::dampening},
};
template <typename Options>
constexpr Setting<Options> kAdamSettings[] = {
    {"lr", Limit::kNotNegative, &Options::lr},
    {"beta1", Limit::kBelowOne, &Options::beta1},
    {"beta2", Limit::kBelowOne, &Options::beta2},
    {"eps", Limit::kNotNegative, &Options::eps},
    {"weight_decay", Limit::kNotNegative, &Options::weight_decay},
    {"amsgrad", Limit::kNone, nullptr, &Options::amsgrad},
};
constexpr Setting<RmsPropOptions> kRmsPropSettings[] = {
    {"lr", Limit::kNotNegative, &RmsPropOptions::lr},
    {"alpha", Limit::kNotNegative, &RmsPropOptions::alpha},
    {"eps", Limit::kNotNegative, &RmsPropOptions::eps},
    {"weight_decay", Limit::kNotNegative, &RmsPropOptions::weight_decay},
    {"momentum", Limit::kNotNegative, &RmsPropOptions::momentum},
    {"centered", Limit::kNone, nullptr, &RmsPropOptions::centered},
};
constexpr Setting<AdagradOptions> kAdagradSettings[] = {
    {"lr", Limit::kNotNegative, &AdagradOptions::lr},
    {"lr_decay", Limit::kNotNegative, &AdagradOptions::lr_decay},
    {"weight_decay", Limit::kNotNegative, &AdagradOptions::weight_decay},
    {"initial_accumulator_value", Limit::kNotNegative, &AdagradOptions::initial_accumulator_value},
    {"eps", Limit::kNotNegative, &AdagradOptions::eps},
};

constexpr OptimizerKind<SgdOptions> kSgd = {"sgd", SgdRule, kSgdSettings, CheckSgd};
constexpr OptimizerKind<AdamOptions> kAdam = {"adam", AdamRule, kAdamSettings<AdamOptions>};
constexpr OptimizerKind<AdamWOptions> kAdamW = {"adamw", AdamWRule, kAdamSettings<AdamWOptions>};
constexpr OptimizerKind<RmsPropOptions> kRmsProp = {"rmsprop", RmsPropRule, kRmsPropSettings};
constexpr OptimizerKind<AdagradOptions> kAdagrad = {"adagrad", AdagradRule, kAdagradSettings};

}  // namespace

template class OptimizerOf<SgdOptions>;
template class OptimizerOf<AdamOptions>;
template class OptimizerOf<AdamWOptions>;
template class OptimizerOf<RmsPropOptions>;
template class OptimizerOf<AdagradOptions>;

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options, Caller caller)
    : Sgd(std::vector<ParamGroup<SgdOptions>>{std::move(parameters)}, options, caller) {}
Sgd::Sgd(std::vector<ParamGroup<SgdOptions>> groups, const SgdOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kSgd, caller) {}
Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options, Caller caller)
    : Adam(std::vector<ParamGroup<AdamOptions>>{std::move(parameters)}, options, caller) {}
Adam::Adam(std::vector<ParamGroup<AdamOptions>> groups, const AdamOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAdam, caller) {}
AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& options, Caller caller)
    : AdamW(std::vector<ParamGroup<AdamWOptions>>{std::move(parameters)}, options, caller) {}
AdamW::AdamW(std::vector<ParamGroup<AdamWOptions>> groups, const AdamWOptions& defaults, Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAdamW, caller) {}
RmsProp::RmsProp(std::vector<Tensor> parameters, const RmsPropOptions& options, Caller caller)
    : RmsProp(std::vector<ParamGroup<RmsPropOptions>>{std::move(parameters)}, options, caller) {}
RmsProp::RmsProp(std::vector<ParamGroup<RmsPropOptions>> groups, const RmsPropOptions& defaults,
                 Caller caller)
    : OptimizerOf(std::move(groups), defaults, kRmsProp, caller) {}
Adagrad::Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options, Caller caller)
    : Adagrad(std::vector<ParamGroup<AdagradOptions>>{std::move(parameters)}, options, caller) {}
Adagrad::Adagrad(std::vector<ParamGroup<AdagradOptions>> groups, const AdagradOptions& defaults,
                 Caller caller)
    : OptimizerOf(std::move(groups), defaults, kAdagrad, caller) {}

}  // namespace hlod
