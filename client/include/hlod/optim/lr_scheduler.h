// Learning rates that change per epoch, as in torch.optim.lr_scheduler: a scheduler changes its optimizer's
// rate at each Step() of the scheduler. A changed rate does not recompile the program.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   hlod::LrScheduler schedule = hlod::CosineAnnealingLr(adam, 100);
//   for (...) { ...; adam.Step(); schedule.Step(); }
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hlod/optim/optimizers.h"

namespace hlod {

// Sets the rate of each group to rule(the group's first rate, the number of steps so far). Groups that are
// added later keep their rates. The optimizer must outlive the scheduler.
//
// Several schedulers may act on one optimizer, each by its own Step() or together (ChainedScheduler). The
// first rate of a group is then the one before the first of them, unless SetLearningRate() was called since.
// As in PyTorch, schedulers that multiply change the rate that the others left; LambdaLr,
// CosineAnnealingWarmRestarts, OneCycleLr, CyclicLr and SequentialLr replace it.
class LrScheduler {
 public:
  using Rule = std::function<double(double base, int64_t epoch)>;
  // The rate of an epoch from the rate `current` of the epoch before.
  using Recurrence = std::function<double(double current, double base, int64_t epoch)>;
  // The momentum of every group at an epoch; nullopt leaves it as it is.
  using MomentumRule = std::function<std::optional<double>(int64_t epoch)>;
  // Sets the rates of epoch 0, and the momenta when there is a rule for them.
  LrScheduler(ParameterOptimizer& optimizer, Rule rule, MomentumRule momentum = {},
              Caller caller = Caller::Here());
  // Computes the rate of Step() by `next` and that of SetEpoch() by `rule`: the same, unless the rate is
  // changed by someone else.
  LrScheduler(ParameterOptimizer& optimizer, Rule rule, Recurrence next, Caller caller = Caller::Here());
  // One rule per group. Throws when the number of rules differs from that of groups.
  LrScheduler(ParameterOptimizer& optimizer, std::vector<Rule> rules, Caller caller = Caller::Here());
  LrScheduler(ParameterOptimizer& optimizer, std::vector<Rule> rules, MomentumRule momentum,
              Caller caller = Caller::Here());

  void Step(Caller caller = Caller::Here());
  // Continues from `epoch`, for training resumed from a file.
  void SetEpoch(int64_t epoch, Caller caller = Caller::Here());

  // Returns the rate that a group's rule computes for an epoch from the first rate `base`.
  double RateAt(double base, int64_t epoch, size_t group = 0) const;
  // Returns the momentum of an epoch; nullopt when the scheduler does not change it.
  std::optional<double> MomentumAt(int64_t epoch) const;

  int64_t epoch() const { return epoch_; }
  size_t group_count() const { return bases_.size(); }
  double base_rate(size_t group = 0) const { return bases_.at(group); }
  double last_rate(size_t group = 0) const { return optimizer_->learning_rate(group); }
  const ParameterOptimizer& optimizer() const { return *optimizer_; }

 private:
  void TakeBases();
  void Reach(int64_t epoch, bool by_recurrence, const Caller& caller);

  ParameterOptimizer* optimizer_;
  std::vector<double> bases_;
  std::vector<Rule> rules_;  // One rule per group, or one for all groups.
  Recurrence next_;          // Null when the rules are used in Step(), too.
  MomentumRule momentum_;    // Null when momenta are left alone.
  int64_t epoch_ = 0;
};

// All functions below throw for arguments that PyTorch refuses; the error names the caller's line.

// The base rate times factor(epoch); the second form has one factor per group.
LrScheduler LambdaLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor);
LrScheduler LambdaLr(ParameterOptimizer& optimizer,
                     const std::vector<std::function<double(int64_t epoch)>>& factors,
                     Caller caller = Caller::Here());
// Multiply the rate by gamma: every `step_size` epochs (StepLr), at each milestone (MultiStepLr), at every
// epoch (ExponentialLr).
LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma = 0.1,
                   Caller caller = Caller::Here());
LrScheduler MultiStepLr(ParameterOptimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
LrScheduler ExponentialLr(ParameterOptimizer& optimizer, double gamma);
// Goes linearly from the base times `start` to the base times `end`, both in [0, 1], in `total` epochs.
LrScheduler LinearLr(ParameterOptimizer& optimizer, double start = 1.0 / 3, double end = 1, int64_t total = 5,
                     Caller caller = Caller::Here());
// Goes from the base down to `minimum` in t_max epochs along half a cosine, and up again.
LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum = 0,
                              Caller caller = Caller::Here());
// Like CosineAnnealingLr, but the rate jumps back to the base instead of going up: first after t_0 epochs,
// then after periods that grow by the factor t_mult.
LrScheduler CosineAnnealingWarmRestarts(ParameterOptimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                                        double minimum = 0, Caller caller = Caller::Here());
// The base times `factor`, which is in [0, 1], for the first `total` epochs; then the base.
LrScheduler ConstantLr(ParameterOptimizer& optimizer, double factor = 1.0 / 3, int64_t total = 5,
                       Caller caller = Caller::Here());
// Goes from the base to 0 in `total` epochs, as (1 - epoch / total)^power.
LrScheduler PolynomialLr(ParameterOptimizer& optimizer, int64_t total = 5, double power = 1,
                         Caller caller = Caller::Here());
// Multiplies the rate by factor(epoch) at each epoch from the first on.
LrScheduler MultiplicativeLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor);

// torch.optim.lr_scheduler.OneCycleLR: from max_rate / div_factor up to max_rate and down to the first rate
// divided by final_div_factor, in `total` epochs. Unless cycle_momentum is false, the momentum (or beta1)
// goes the other way, from max_momentum down to base_momentum and up again; an optimizer without either is
// refused then.
struct OneCycleOptions {
  double max_rate = 0;
  int64_t total = 0;
  double pct_start = 0.3;  // The fraction of the epochs in which the rate rises.
  bool linear = false;     // True for straight lines instead of half cosines.
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;  // Goes down to the first rate as slowly as up, then to the last rate.
};
LrScheduler OneCycleLr(ParameterOptimizer& optimizer, const OneCycleOptions& options,
                       Caller caller = Caller::Here());

// torch.optim.lr_scheduler.CyclicLR: up and down between two rates, and the momentum as in OneCycleLr().
struct CyclicOptions {
  double base_rate = 0, max_rate = 0;
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down;  // nullopt: step_size_up.
  enum class Mode {
    kTriangular,
    kTriangular2,  // The amplitude is halved each cycle.
    kExpRange,     // The amplitude is multiplied by gamma^epoch.
  } mode = Mode::kTriangular;
  double gamma = 1;
  bool cycle_momentum = true;
  double base_momentum = 0.8, max_momentum = 0.9;
};
LrScheduler CyclicLr(ParameterOptimizer& optimizer, const CyclicOptions& options,
                     Caller caller = Caller::Here());

// torch.optim.lr_scheduler.SequentialLR: the rules of `schedulers` one after another. Rule i + 1 begins at
// milestones[i] and counts epochs from there; all use the base rates of the first. All schedulers must have
// the same optimizer.
LrScheduler SequentialLr(ParameterOptimizer& optimizer, const std::vector<LrScheduler>& schedulers,
                         std::vector<int64_t> milestones, Caller caller = Caller::Here());

// torch.optim.lr_scheduler.ChainedScheduler: schedulers of one optimizer, which step together, in order.
class ChainedScheduler {
 public:
  // Throws when there is no scheduler, or when two have different optimizers.
  explicit ChainedScheduler(std::vector<LrScheduler> schedulers, Caller caller = Caller::Here());
  void Step(Caller caller = Caller::Here());
  double last_rate(size_t group = 0) const { return schedulers_.back().last_rate(group); }

 private:
  std::vector<LrScheduler> schedulers_;
};

// torch.optim.lr_scheduler.ReduceLROnPlateau: multiplies the rate of each group by `factor` when a metric has
// not improved for more than `patience` epochs.
struct PlateauOptions {
  bool maximize = false;  // True when a larger metric is better.
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  bool absolute = false;            // True: `threshold` is a difference; false: a fraction of the best.
  int64_t cooldown = 0;             // The number of epochs after a reduction that do not count.
  double min_rate = 0, eps = 1e-8;  // The rate stays when it would change by less than eps.
};
class ReduceLrOnPlateau {
 public:
  // The optimizer must outlive the scheduler. Throws unless the factor is below 1.
  explicit ReduceLrOnPlateau(ParameterOptimizer& optimizer, const PlateauOptions& options = {},
                             Caller caller = Caller::Here());
  void Step(double metric);

  double best() const { return best_; }
  int64_t bad_epochs() const { return bad_epochs_; }
  double last_rate(size_t group = 0) const { return optimizer_->learning_rate(group); }

 private:
  bool IsBetter(double metric) const;

  ParameterOptimizer* optimizer_;
  PlateauOptions options_;
  double best_;
  int64_t bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace hlod
