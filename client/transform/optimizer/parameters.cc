// PyTorch's manner: the chains of Optax, one for each parameter, applied in place.
#include "absl/strings/str_cat.h"
#include "client/tensor/throw.h"
#include "hlod/autograd.h"
#include "hlod/optimizers.h"

namespace hlod {
namespace {

optim::Optimizer Decayed(double weight_decay, const optim::Optimizer& update) {
  return weight_decay == 0 ? update : optim::Chain({optim::AddDecayedWeights(weight_decay), update});
}

optim::Optimizer UpdateOf(const SgdOptions& options) {
  const std::optional<double> momentum =
      options.momentum == 0 ? std::optional<double>() : std::optional<double>(options.momentum);
  return Decayed(options.weight_decay, optim::Sgd(options.lr, momentum, options.nesterov));
}
optim::AdamOptions MomentsOf(const AdamOptions& options) {
  return {.b1 = options.beta1, .b2 = options.beta2, .eps = options.eps};
}
optim::Optimizer UpdateOf(const AdamOptions& options) {
  return Decayed(options.weight_decay, optim::Adam(options.lr, MomentsOf(options)));
}
optim::Optimizer DecoupledUpdateOf(const AdamOptions& options) {
  return optim::AdamW(options.lr, options.weight_decay, MomentsOf(options));
}

}  // namespace

ParameterOptimizer::ParameterOptimizer(std::vector<Tensor> parameters, optim::Optimizer update)
    : parameters_(std::move(parameters)), states_(parameters_.size()), update_(std::move(update)) {}

void ParameterOptimizer::Step(Caller caller) {
  const NoGrad scope;
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
    const std::vector<Tensor> before = {parameter.Detach()};
    if (!states_[i].has_value()) states_[i] = update_.InitLeaves(before);
    std::vector<Tensor> updates = {gradient};
    states_[i] = update_.UpdateLeaves(updates, *states_[i], before);
    parameter.Copy_(Operand(optim::ApplyLeaves(before, updates)[0], caller));
  }
}

void ParameterOptimizer::ZeroGrad() {
  for (Tensor& parameter : parameters_) parameter.ZeroGrad();
}

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : ParameterOptimizer(std::move(parameters), UpdateOf(options)), options_(options) {}
void Sgd::SetLearningRate(double lr) {
  options_.lr = lr;
  Replace(UpdateOf(options_));
}

Adam::Adam(std::vector<Tensor> parameters, const AdamOptions& options)
    : ParameterOptimizer(std::move(parameters), UpdateOf(options)), options_(options) {}
void Adam::SetLearningRate(double lr) {
  options_.lr = lr;
  Replace(UpdateOf(options_));
}

AdamW::AdamW(std::vector<Tensor> parameters, const AdamOptions& options)
    : ParameterOptimizer(std::move(parameters), DecoupledUpdateOf(options)), options_(options) {}
void AdamW::SetLearningRate(double lr) {
  options_.lr = lr;
  Replace(DecoupledUpdateOf(options_));
}

}  // namespace hlod
