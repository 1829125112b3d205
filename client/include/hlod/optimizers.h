// Optimizers as PyTorch has them: objects that update a model's parameters in place.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   loss.Backward();
//   adam.Step();
//   adam.ZeroGrad();
//   hlod::Sync();  // One execute.
//
// Each update is the one of hlod/optim.h, and recorded like any operation: the old parameters and moments are
// donated.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hlod/caller.h"
#include "hlod/optim.h"
#include "hlod/tensor.h"

namespace hlod {

struct SgdOptions {
  double lr = 1e-3, momentum = 0;
  bool nesterov = false;    // Takes a momentum and no dampening.
  double weight_decay = 0;  // Times the parameter, added to the gradient.
  double dampening = 0;     // Of the gradients that the momentum adds up, from the second on.
};
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;  // Of Adam as of Sgd; of AdamW times lr, taken from the parameter.
  bool amsgrad = false;     // The largest second moment so far, in place of the last.
};
struct RmsPropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false;  // Divides by the deviation, not by the root of the mean square.
};
struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
};
struct AdadeltaOptions {
  double lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0;
};
struct AdamaxOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};
struct NAdamOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  double momentum_decay = 4e-3;  // How fast the momentum approaches beta1.
};
struct RAdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};

// What the optimizers share. A parameter without a gradient stays as it is, and its count of steps, too.
class ParameterOptimizer {
 public:
  // Parameters require gradients.
  ParameterOptimizer(std::vector<Tensor> parameters, optim::Optimizer update);
  virtual ~ParameterOptimizer() = default;

  // Updates the parameters by their gradients.
  void Step(Caller caller = Caller::Here());
  // Drops the gradients.
  void ZeroGrad();

  // A change does not compile again. hlod/lr_scheduler.h has the schedules of PyTorch.
  virtual double learning_rate() const = 0;
  virtual void SetLearningRate(double lr) = 0;

  // The learning rate as "lr", and what is remembered of each parameter that has had a gradient, as
  // "state.0.1.2": of parameter 0 tensor 2 of link 1. A file of it is written as that of a model.
  std::map<std::string, Tensor> StateDict() const;
  // Takes it over from an optimizer of the same kind and of as many parameters of the same shapes. Throws
  // before anything is changed, naming what is missing, unknown or of another shape.
  void LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller = Caller::Here());

  const std::vector<Tensor>& parameters() const { return parameters_; }

 protected:
  // The same states, another rule: a learning rate that has changed.
  void Replace(optim::Optimizer update) { update_ = std::move(update); }

 private:
  std::vector<Tensor> parameters_;
  std::vector<std::optional<optim::State>> states_;  // Of each parameter, from its first gradient on.
  optim::Optimizer update_;
};

// An optimizer whose rule is a function of its options.
template <typename Options>
class OptimizerOf : public ParameterOptimizer {
 public:
  using Rule = optim::Optimizer (*)(const Options&);

  OptimizerOf(std::vector<Tensor> parameters, const Options& options, Rule rule)
      : ParameterOptimizer(std::move(parameters), rule(options)), options_(options), rule_(rule) {}

  double learning_rate() const override { return options_.lr; }
  void SetLearningRate(double lr) override {
    options_.lr = lr;
    Replace(rule_(options_));
  }

 private:
  Options options_;
  Rule rule_;
};

// torch.optim.SGD.
class Sgd : public OptimizerOf<SgdOptions> {
 public:
  explicit Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {});
};

// torch.optim.Adam.
class Adam : public OptimizerOf<AdamOptions> {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {});
};

// torch.optim.AdamW. PyTorch's weight_decay is 1e-2 unless it is given.
class AdamW : public OptimizerOf<AdamOptions> {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamOptions& options = {.weight_decay = 1e-2});
};

// torch.optim.RMSprop.
class RmsProp : public OptimizerOf<RmsPropOptions> {
 public:
  explicit RmsProp(std::vector<Tensor> parameters, const RmsPropOptions& options = {});
};

// torch.optim.Adagrad.
class Adagrad : public OptimizerOf<AdagradOptions> {
 public:
  explicit Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options = {});
};

// torch.optim.Adadelta.
class Adadelta : public OptimizerOf<AdadeltaOptions> {
 public:
  explicit Adadelta(std::vector<Tensor> parameters, const AdadeltaOptions& options = {});
};

// torch.optim.Adamax.
class Adamax : public OptimizerOf<AdamaxOptions> {
 public:
  explicit Adamax(std::vector<Tensor> parameters, const AdamaxOptions& options = {});
};

// torch.optim.NAdam.
class NAdam : public OptimizerOf<NAdamOptions> {
 public:
  explicit NAdam(std::vector<Tensor> parameters, const NAdamOptions& options = {});
};

// torch.optim.RAdam.
class RAdam : public OptimizerOf<RAdamOptions> {
 public:
  explicit RAdam(std::vector<Tensor> parameters, const RAdamOptions& options = {});
};

}  // namespace hlod
