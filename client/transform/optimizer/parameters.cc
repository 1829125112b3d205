// PyTorch's manner: the chains of Optax, one for each parameter, applied in place.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/throw.h"
#include "client/transform/optimizer/torch_moments.h"
#include "hlod/autograd.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/shape.h"
#include "hlod/optimizers.h"

namespace hlod {
namespace {

optim::Optimizer Decayed(double weight_decay, const optim::Optimizer& update) {
  return weight_decay == 0 ? update : optim::Chain({optim::AddDecayedWeights(weight_decay), update});
}

optim::Optimizer SgdRule(const SgdOptions& options) {
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("nesterov takes a momentum above 0, not ", options.momentum,
                             ", and a dampening of 0, not ", options.dampening),
                "sgd", Caller{});
  }
  if (options.dampening == 0 || options.momentum == 0) {
    const std::optional<double> momentum =
        options.momentum == 0 ? std::optional<double>() : std::optional<double>(options.momentum);
    return Decayed(options.weight_decay, optim::Sgd(options.lr, momentum, options.nesterov));
  }
  return Decayed(options.weight_decay,
                 optim::Chain({optim::DampenedTrace(options.momentum, options.dampening),
                               optim::ScaleByLearningRate(options.lr)}));
}

optim::Optimizer Moments(const AdamOptions& options) {
  return optim::ScaleByTorchAdam(options.beta1, options.beta2, options.eps, options.amsgrad);
}
optim::Optimizer AdamRule(const AdamOptions& options) {
  return Decayed(options.weight_decay,
                 optim::Chain({Moments(options), optim::ScaleByLearningRate(options.lr)}));
}
optim::Optimizer AdamWRule(const AdamOptions& options) {
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

// What the rules see of a parameter or gradient: the two parts of a complex number are parameters of their
// own, as PyTorch has it.
Tensor Parts(const Tensor& x) { return hlo::IsComplex(x.dtype()) ? ViewAsReal(x) : x; }

std::string NameOf(size_t parameter, size_t link, size_t tensor) {
  return absl::StrCat("state.", parameter, ".", link, ".", tensor);
}

}  // namespace

ParameterOptimizer::ParameterOptimizer(std::vector<Tensor> parameters, optim::Optimizer update)
    : parameters_(std::move(parameters)), states_(parameters_.size()), update_(std::move(update)) {}

void ParameterOptimizer::Step(Caller caller) {
  const NoGrad no_grad;
  const CallerScope scope(caller);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& parameter = parameters_[i];
    const Tensor gradient = parameter.Grad();
    if (!gradient.defined()) continue;
    if (!(gradient.shape() == parameter.shape())) {
      lazy::Throw(ErrorKind::kArgument,
                  absl::StrCat("parameter ", i, " is ", hlo::ToStringNoLayout(parameter.shape()),
                               " and its gradient ", hlo::ToStringNoLayout(gradient.shape())),
                  "step", caller);
    }
    const std::vector<Tensor> before = {Parts(parameter.Detach())};
    if (!states_[i].has_value()) states_[i] = update_.InitLeaves(before);
    std::vector<Tensor> updates = {Parts(gradient)};
    states_[i] = update_.UpdateLeaves(updates, *states_[i], before);
    const Tensor after = optim::ApplyLeaves(before, updates)[0];
    parameter.Copy_(Operand(hlo::IsComplex(parameter.dtype()) ? ViewAsComplex(after) : after, caller));
  }
}

void ParameterOptimizer::ZeroGrad() {
  for (Tensor& parameter : parameters_) parameter.ZeroGrad();
}

std::map<std::string, Tensor> ParameterOptimizer::StateDict() const {
  std::map<std::string, Tensor> all = {{"lr", FromValues<double>({learning_rate()}, Dims{})}};
  for (size_t i = 0; i < states_.size(); ++i) {
    if (!states_[i].has_value()) continue;
    const auto& parts = states_[i]->parts;
    for (size_t link = 0; link < parts.size(); ++link) {
      for (size_t k = 0; k < parts[link].size(); ++k) all[NameOf(i, link, k)] = parts[link][k];
    }
  }
  return all;
}

void ParameterOptimizer::LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller) {
  const NoGrad scope;
  std::vector<std::string> faults;
  size_t used = 0;
  // The tensor of that name, with the shape and type of `like` and on its device.
  const auto take = [&](const std::string& name, const Tensor& like) {
    const auto found = state.find(name);
    if (found == state.end()) {
      faults.push_back(absl::StrCat("missing ", name));
      return like;
    }
    ++used;
    const Tensor& tensor = found->second;
    if (tensor.dims() != like.dims()) {
      faults.push_back(absl::StrCat(name, " is ", hlo::ToStringNoLayout(tensor.shape()), ", here ",
                                    hlo::ToStringNoLayout(like.shape())));
      return like;
    }
    return tensor.To(like.dtype(), caller).To(like.device(), caller).Clone(caller);
  };
  const Tensor rate = take("lr", FromValues<double>({learning_rate()}, Dims{}));
  std::vector<std::optional<optim::State>> states(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const std::string prefix = absl::StrCat("state.", i, ".");
    const auto first = state.lower_bound(prefix);
    if (first == state.end() || !first->first.starts_with(prefix)) continue;
    states[i] = update_.InitLeaves({Parts(parameters_[i].Detach())});
    for (size_t link = 0; link < states[i]->parts.size(); ++link) {
      std::vector<Tensor>& tensors = states[i]->parts[link];
      for (size_t k = 0; k < tensors.size(); ++k) tensors[k] = take(NameOf(i, link, k), tensors[k]);
    }
  }
  if (faults.empty() && used < state.size()) {
    faults.push_back(absl::StrCat("of its ", state.size(), " tensors ", state.size() - used,
                                  " are not of an optimizer of this kind and ", parameters_.size(),
                                  " parameters"));
  }
  if (!faults.empty()) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the state does not fit the optimizer: ", absl::StrJoin(faults, "; ")),
                "load_state_dict", caller);
  }
  SetLearningRate(rate.Item<double>(caller));
  states_ = std::move(states);
}

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : OptimizerOf(std::move(parameters), options, SgdRule) {}
Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : OptimizerOf(std::move(parameters), options, AdamRule) {}
AdamW::AdamW(std::vector<Tensor> parameters, const AdamOptions& options)
    : OptimizerOf(std::move(parameters), options, AdamWRule) {}
RmsProp::RmsProp(std::vector<Tensor> parameters, const RmsPropOptions& options)
    : OptimizerOf(std::move(parameters), options, RmsPropRule) {}
Adagrad::Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options)
    : OptimizerOf(std::move(parameters), options, AdagradRule) {}

}  // namespace hlod
