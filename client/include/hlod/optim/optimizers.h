// Optimizers as PyTorch has them: objects that update a model's parameters in place.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   loss.Backward();
//   adam.Step();
//   adam.ZeroGrad();
//   hlod::Sync();  // One execute.
//
// Parameters may come in groups, each with settings of its own; schedulers act on each group:
//
//   hlod::AdamW adam({{backbone.Parameters(), {.lr = 1e-5, .weight_decay = .1}}, {head.Parameters()}}, {.lr =
//   1e-3});
//
// Each update is that of hlod/optim/optim.h, and is recorded like any operation: the old parameters and
// moments are donated. Settings outside PyTorch's limits are refused, with the caller's line.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlod/optim/optim.h"
#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct SgdOptions {
  double lr = 1e-3, momentum = 0;
  bool nesterov = false;    // Requires a momentum and no dampening.
  double weight_decay = 0;  // Adds weight_decay times the parameter to the gradient.
  double dampening = 0;     // The momentum accumulates (1 - dampening) times each gradient after the first.
};
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 0;  // Adds weight_decay times the parameter to the gradient.
  bool amsgrad = false;     // Uses the largest second moment so far instead of the current one.
};
struct AdamWOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  double weight_decay = 1e-2;  // Subtracts lr times weight_decay times the parameter from the parameter.
  bool amsgrad = false;        // As in AdamOptions.
};
struct RmsPropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false;  // Divides by the standard deviation instead of the root mean square.
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
  double momentum_decay = 4e-3;  // The speed at which the momentum approaches beta1.
};
struct RAdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};
struct RpropOptions {
  // The size of the first step of each element; a later change has no effect, as in PyTorch.
  double lr = 1e-2;
  // The factors of the step size when the gradient's sign changes, and when it stays.
  double eta_minus = 0.5, eta_plus = 1.2;
  double step_min = 1e-6, step_max = 50;
};
struct AsgdOptions {
  double lr = 1e-2, lambd = 1e-4, alpha = 0.75;  // The rate of step t is lr / (1 + lambd lr t)^alpha.
  double t0 = 1e6;                               // The step at which the averaging of parameters begins.
  double weight_decay = 0;
};

// Parameters with settings of their own. Without options they use the optimizer's.
template <typename Options>
struct ParamGroup {
  ParamGroup(std::vector<Tensor> its_parameters) : parameters(std::move(its_parameters)) {}  // NOLINT
  ParamGroup(std::vector<Tensor> its_parameters, const Options& its_options)
      : parameters(std::move(its_parameters)), options(its_options) {}

  std::vector<Tensor> parameters;
  std::optional<Options> options;
};

// The base of the optimizers. A parameter without a gradient is not updated, and its count of steps does not
// change.
class ParameterOptimizer {
 public:
  virtual ~ParameterOptimizer() = default;

  // Updates the parameters by their gradients.
  virtual void Step(Caller caller = Caller::Here());
  // Calls `closure`, which computes the loss and calls Backward(), then makes a step. Returns the loss.
  virtual Tensor Step(const std::function<Tensor()>& closure, Caller caller = Caller::Here());
  // Makes a step unless `skip`, a pred scalar, is true; then parameters and states keep their values. Nothing
  // is read back. hlod/optim/grad_scaler.h uses it for gradients that are infinite.
  virtual void StepUnless(const Tensor& skip, Caller caller = Caller::Here());
  // Drops the gradients.
  void ZeroGrad();

  // Setting a rate does not recompile. Schedulers that are made later start from it.
  // hlod/optim/lr_scheduler.h has PyTorch's schedules.
  double learning_rate(size_t group = 0, Caller caller = Caller::Here()) const;
  void SetLearningRate(double lr);  // Sets the rate of every group.
  void SetLearningRate(double lr, size_t group, Caller caller = Caller::Here());

  // Returns the momentum of a group, or its beta1 when the optimizer has betas; nullopt when it has neither.
  std::optional<double> momentum(size_t group = 0, Caller caller = Caller::Here()) const;
  // Sets it without another compile. Throws when the optimizer has neither, when the value is beyond its
  // limits, or when a step was made with a momentum of 0, for which no velocity is kept.
  void SetMomentum(double momentum, size_t group, Caller caller = Caller::Here());

  // Returns the settings of each group ("groups.0.lr", and the number of its parameters as "groups.0.size")
  // and the state of each parameter that has had a gradient: "state.0.1.2" is tensor 2 of link 1 for
  // parameter 0, counted over all groups. It can be saved like a model's state.
  virtual std::map<std::string, Tensor> StateDict() const;
  // Restores a StateDict(), settings included, from an optimizer of the same kind whose groups have as many
  // parameters with the same shapes. Throws before anything is changed, naming what is missing, unknown or of
  // another shape.
  virtual void LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller = Caller::Here());

  size_t group_count() const { return groups_.size(); }
  // The parameters of all groups, one group after another.
  const std::vector<Tensor>& parameters() const { return parameters_; }

 protected:
  // Adds a group. Throws when there are no parameters, or when one is in a group already.
  void AddGroup(std::vector<Tensor> parameters, optim::Optimizer update, const char* name,
                const Caller& caller);
  // Sets another rule for the same states, when a setting has changed.
  void Replace(size_t group, optim::Optimizer update) { groups_[group].update = std::move(update); }
  // Throws when the states of `update` differ in kind from those of a parameter that has made a step.
  void RequireSameStates(size_t group, const optim::Optimizer& update, const Caller& caller) const;
  void RequireGroup(size_t group, const char* operation, const Caller& caller) const;
  // Null before the parameter's first gradient.
  const optim::State* state_of(size_t parameter) const;

  virtual double RateOf(size_t group) const = 0;
  virtual void SetRate(double lr, size_t group) = 0;
  virtual std::optional<double> MomentumOf(size_t) const { return std::nullopt; }
  virtual void TakeMomentum(double, size_t, const Caller&) {}
  virtual std::vector<std::pair<const char*, double>> SettingsOf(size_t group) const = 0;
  // Returns the rule for settings in the order of SettingsOf().
  virtual optim::Optimizer RuleOf(const std::vector<double>& settings) const = 0;
  virtual void TakeSettings(size_t group, const std::vector<double>& settings) = 0;

 private:
  friend class LrScheduler;
  friend class ReduceLrOnPlateau;
  struct Group {
    size_t begin, end;  // A range of parameters_.
    optim::Optimizer update;
    std::optional<double> first_rate;  // The rate before the first scheduler.
  };
  // Returns the rate of a group before the first of its schedulers, of which the caller is one.
  double FirstRate(size_t group);
  void StepWhere(const Tensor* skip, const Caller& caller);
  void UpdateOne(size_t i, const optim::Optimizer& update, const Tensor* skip, const Caller& caller);

  std::vector<Tensor> parameters_;
  std::vector<std::optional<optim::State>> states_;  // One per parameter; nullopt before its first gradient.
  std::vector<Group> groups_;
};

template <typename Options>
struct OptimizerKind;  // client/transform/optimizer/torch/kind.h

// The base of optimizers whose rule is a function of an options struct.
template <typename Options>
class OptimizerOf : public ParameterOptimizer {
 public:
  OptimizerOf(std::vector<ParamGroup<Options>> groups, const Options& defaults,
              const OptimizerKind<Options>& kind, const Caller& caller);

  // Adds a group with the given options, or with those that the optimizer was made with.
  // torch.optim.Optimizer.add_param_group.
  void AddParamGroup(std::vector<Tensor> parameters, Caller caller = Caller::Here());
  void AddParamGroup(std::vector<Tensor> parameters, const Options& options, Caller caller = Caller::Here());

  const Options& options(size_t group = 0, Caller caller = Caller::Here()) const;
  // Changes the settings from the next step on. They must need the same state as those before: a momentum of
  // 0 must stay 0 once a step was made.
  void SetOptions(const Options& options, size_t group = 0, Caller caller = Caller::Here());

 protected:
  double RateOf(size_t group) const override;
  void SetRate(double lr, size_t group) override;
  std::optional<double> MomentumOf(size_t group) const override;
  void TakeMomentum(double momentum, size_t group, const Caller& caller) override;
  std::vector<std::pair<const char*, double>> SettingsOf(size_t group) const override;
  optim::Optimizer RuleOf(const std::vector<double>& settings) const override;
  void TakeSettings(size_t group, const std::vector<double>& settings) override;

 private:
  Options OptionsOf(const std::vector<double>& settings) const;

  const OptimizerKind<Options>* kind_;
  Options defaults_;
  std::vector<Options> options_;  // The options of each group.
};

extern template class OptimizerOf<SgdOptions>;
extern template class OptimizerOf<AdamOptions>;
extern template class OptimizerOf<RmsPropOptions>;
extern template class OptimizerOf<AdagradOptions>;
extern template class OptimizerOf<AdadeltaOptions>;
extern template class OptimizerOf<AdamaxOptions>;
extern template class OptimizerOf<NAdamOptions>;
extern template class OptimizerOf<RAdamOptions>;
extern template class OptimizerOf<RpropOptions>;
extern template class OptimizerOf<AsgdOptions>;

// torch.optim.SGD.
class Sgd : public OptimizerOf<SgdOptions> {
 public:
  explicit Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {},
               Caller caller = Caller::Here());
  explicit Sgd(std::vector<ParamGroup<SgdOptions>> groups, const SgdOptions& defaults = {},
               Caller caller = Caller::Here());
  explicit Sgd(std::initializer_list<ParamGroup<SgdOptions>> groups, const SgdOptions& defaults = {},
               Caller caller = Caller::Here())
      : Sgd(std::vector(groups), defaults, caller) {}
};

// torch.optim.Adam.
class Adam : public OptimizerOf<AdamOptions> {
 public:
  explicit Adam(std::vector<Tensor> parameters, const AdamOptions& options = {},
                Caller caller = Caller::Here());
  explicit Adam(std::vector<ParamGroup<AdamOptions>> groups, const AdamOptions& defaults = {},
                Caller caller = Caller::Here());
  explicit Adam(std::initializer_list<ParamGroup<AdamOptions>> groups, const AdamOptions& defaults = {},
                Caller caller = Caller::Here())
      : Adam(std::vector(groups), defaults, caller) {}
};

// torch.optim.AdamW.
class AdamW : public OptimizerOf<AdamWOptions> {
 public:
  explicit AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {},
                 Caller caller = Caller::Here());
  explicit AdamW(std::vector<ParamGroup<AdamWOptions>> groups, const AdamWOptions& defaults = {},
                 Caller caller = Caller::Here());
  explicit AdamW(std::initializer_list<ParamGroup<AdamWOptions>> groups, const AdamWOptions& defaults = {},
                 Caller caller = Caller::Here())
      : AdamW(std::vector(groups), defaults, caller) {}
};

// torch.optim.RMSprop.
class RmsProp : public OptimizerOf<RmsPropOptions> {
 public:
  explicit RmsProp(std::vector<Tensor> parameters, const RmsPropOptions& options = {},
                   Caller caller = Caller::Here());
  explicit RmsProp(std::vector<ParamGroup<RmsPropOptions>> groups, const RmsPropOptions& defaults = {},
                   Caller caller = Caller::Here());
  explicit RmsProp(std::initializer_list<ParamGroup<RmsPropOptions>> groups,
                   const RmsPropOptions& defaults = {}, Caller caller = Caller::Here())
      : RmsProp(std::vector(groups), defaults, caller) {}
};

// torch.optim.Adagrad.
class Adagrad : public OptimizerOf<AdagradOptions> {
 public:
  explicit Adagrad(std::vector<Tensor> parameters, const AdagradOptions& options = {},
                   Caller caller = Caller::Here());
  explicit Adagrad(std::vector<ParamGroup<AdagradOptions>> groups, const AdagradOptions& defaults = {},
                   Caller caller = Caller::Here());
  explicit Adagrad(std::initializer_list<ParamGroup<AdagradOptions>> groups,
                   const AdagradOptions& defaults = {}, Caller caller = Caller::Here())
      : Adagrad(std::vector(groups), defaults, caller) {}
};

// torch.optim.Adadelta.
class Adadelta : public OptimizerOf<AdadeltaOptions> {
 public:
  explicit Adadelta(std::vector<Tensor> parameters, const AdadeltaOptions& options = {},
                    Caller caller = Caller::Here());
  explicit Adadelta(std::vector<ParamGroup<AdadeltaOptions>> groups, const AdadeltaOptions& defaults = {},
                    Caller caller = Caller::Here());
  explicit Adadelta(std::initializer_list<ParamGroup<AdadeltaOptions>> groups,
                    const AdadeltaOptions& defaults = {}, Caller caller = Caller::Here())
      : Adadelta(std::vector(groups), defaults, caller) {}
};

// torch.optim.Adamax.
class Adamax : public OptimizerOf<AdamaxOptions> {
 public:
  explicit Adamax(std::vector<Tensor> parameters, const AdamaxOptions& options = {},
                  Caller caller = Caller::Here());
  explicit Adamax(std::vector<ParamGroup<AdamaxOptions>> groups, const AdamaxOptions& defaults = {},
                  Caller caller = Caller::Here());
  explicit Adamax(std::initializer_list<ParamGroup<AdamaxOptions>> groups, const AdamaxOptions& defaults = {},
                  Caller caller = Caller::Here())
      : Adamax(std::vector(groups), defaults, caller) {}
};

// torch.optim.NAdam.
class NAdam : public OptimizerOf<NAdamOptions> {
 public:
  explicit NAdam(std::vector<Tensor> parameters, const NAdamOptions& options = {},
                 Caller caller = Caller::Here());
  explicit NAdam(std::vector<ParamGroup<NAdamOptions>> groups, const NAdamOptions& defaults = {},
                 Caller caller = Caller::Here());
  explicit NAdam(std::initializer_list<ParamGroup<NAdamOptions>> groups, const NAdamOptions& defaults = {},
                 Caller caller = Caller::Here())
      : NAdam(std::vector(groups), defaults, caller) {}
};

// torch.optim.RAdam.
class RAdam : public OptimizerOf<RAdamOptions> {
 public:
  explicit RAdam(std::vector<Tensor> parameters, const RAdamOptions& options = {},
                 Caller caller = Caller::Here());
  explicit RAdam(std::vector<ParamGroup<RAdamOptions>> groups, const RAdamOptions& defaults = {},
                 Caller caller = Caller::Here());
  explicit RAdam(std::initializer_list<ParamGroup<RAdamOptions>> groups, const RAdamOptions& defaults = {},
                 Caller caller = Caller::Here())
      : RAdam(std::vector(groups), defaults, caller) {}
};

// torch.optim.Rprop.
class Rprop : public OptimizerOf<RpropOptions> {
 public:
  explicit Rprop(std::vector<Tensor> parameters, const RpropOptions& options = {},
                 Caller caller = Caller::Here());
  explicit Rprop(std::vector<ParamGroup<RpropOptions>> groups, const RpropOptions& defaults = {},
                 Caller caller = Caller::Here());
  explicit Rprop(std::initializer_list<ParamGroup<RpropOptions>> groups, const RpropOptions& defaults = {},
                 Caller caller = Caller::Here())
      : Rprop(std::vector(groups), defaults, caller) {}
};

// torch.optim.ASGD.
class Asgd : public OptimizerOf<AsgdOptions> {
 public:
  explicit Asgd(std::vector<Tensor> parameters, const AsgdOptions& options = {},
                Caller caller = Caller::Here());
  explicit Asgd(std::vector<ParamGroup<AsgdOptions>> groups, const AsgdOptions& defaults = {},
                Caller caller = Caller::Here());
  explicit Asgd(std::initializer_list<ParamGroup<AsgdOptions>> groups, const AsgdOptions& defaults = {},
                Caller caller = Caller::Here())
      : Asgd(std::vector(groups), defaults, caller) {}

  // Returns the average of parameter `i`, counted over all groups, which is the result of a training with
  // ASGD. Before its first step it is the parameter itself.
  Tensor Average(size_t i, Caller caller = Caller::Here()) const;
};

}  // namespace hlod
