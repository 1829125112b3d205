// Learning rates by the epoch, as torch.optim.lr_scheduler: an object that changes an optimizer's rate at
// each of its steps. Nothing compiles again.
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

// The rate of each group of the optimizer is rule(the rate that the group had first, the number of steps so
// far). Groups that are added later keep their rates. The optimizer outlives the scheduler.
class LrScheduler {
 public:
  using Rule = std::function<double(double base, int64_t epoch)>;
  // Sets the rates of epoch 0.
  LrScheduler(ParameterOptimizer& optimizer, Rule rule);
  // A rule for each group. Throws when there are more or fewer.
  LrScheduler(ParameterOptimizer& optimizer, std::vector<Rule> rules, Caller caller = Caller::Here());

  void Step() { SetEpoch(epoch_ + 1); }
  // Goes on from there, as when training goes on from a file.
  void SetEpoch(int64_t epoch);

  // The rate that the rule of a group has for an epoch, from another first rate.
  double RateAt(double base, int64_t epoch, size_t group = 0) const;

  int64_t epoch() const { return epoch_; }
  size_t group_count() const { return bases_.size(); }
  double base_rate(size_t group = 0) const { return bases_.at(group); }
  double last_rate(size_t group = 0) const { return optimizer_->learning_rate(group); }

 private:
  ParameterOptimizer* optimizer_;
  std::vector<double> bases_;
  std::vector<Rule> rules_;  // Of each group, or one of all.
  int64_t epoch_ = 0;
};

// Arguments that PyTorch refuses throw an error that names the caller's line.

// The base times factor(epoch); with a factor for each group.
LrScheduler LambdaLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor);
LrScheduler LambdaLr(ParameterOptimizer& optimizer,
                     const std::vector<std::function<double(int64_t epoch)>>& factors,
                     Caller caller = Caller::Here());
// Times gamma every `step_size` epochs; at each of the milestones; at every epoch.
LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma = 0.1,
                   Caller caller = Caller::Here());
LrScheduler MultiStepLr(ParameterOptimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
LrScheduler ExponentialLr(ParameterOptimizer& optimizer, double gamma);
// From the base times `start` to the base times `end`, both of 0 to 1, in `total` epochs.
LrScheduler LinearLr(ParameterOptimizer& optimizer, double start = 1.0 / 3, double end = 1, int64_t total = 5,
                     Caller caller = Caller::Here());
// From the base down to `minimum` in t_max epochs along half a cosine, and up again.
LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum = 0,
                              Caller caller = Caller::Here());
// The same from the base down, and at once back to it: after t_0 epochs, then after t_mult times as many each
// time.
LrScheduler CosineAnnealingWarmRestarts(ParameterOptimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                                        double minimum = 0, Caller caller = Caller::Here());
// Times `factor`, which is of 0 to 1, for the first `total` epochs.
LrScheduler ConstantLr(ParameterOptimizer& optimizer, double factor = 1.0 / 3, int64_t total = 5,
                       Caller caller = Caller::Here());
// From the base to 0 in `total` epochs, by (1 - epoch / total)^power.
LrScheduler PolynomialLr(ParameterOptimizer& optimizer, int64_t total = 5, double power = 1,
                         Caller caller = Caller::Here());
// Times factor(epoch) at each epoch from the first on.
LrScheduler MultiplicativeLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor);

// torch.optim.lr_scheduler.OneCycleLR: from max_rate / div_factor up to max_rate and down to the first rate
// divided by final_div_factor, in `total` epochs.
struct OneCycleOptions {
  double max_rate = 0;
  int64_t total = 0;
  double pct_start = 0.3;  // The part of the epochs that rises.
  bool linear = false;     // Else along half a cosine.
  double div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;  // Down to the first rate as slowly as up, then to the last.
};
LrScheduler OneCycleLr(ParameterOptimizer& optimizer, const OneCycleOptions& options,
                       Caller caller = Caller::Here());

// torch.optim.lr_scheduler.CyclicLR: up and down between two rates.
struct CyclicOptions {
  double base_rate = 0, max_rate = 0;
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down;  // As many as up when absent.
  enum class Mode {
    kTriangular,
    kTriangular2,  // The height is halved each cycle.
    kExpRange,     // The height is gamma^epoch.
  } mode = Mode::kTriangular;
  double gamma = 1;
};
LrScheduler CyclicLr(ParameterOptimizer& optimizer, const CyclicOptions& options,
                     Caller caller = Caller::Here());

// torch.optim.lr_scheduler.SequentialLR: rule i + 1 begins at milestones[i], and counts from there, each from
// the base rates of the first. Each rule is that of a scheduler of the same optimizer, made before this one.
LrScheduler SequentialLr(ParameterOptimizer& optimizer, const std::vector<LrScheduler>& schedulers,
                         std::vector<int64_t> milestones, Caller caller = Caller::Here());

// torch.optim.lr_scheduler.ReduceLROnPlateau: the rate of each group is multiplied by `factor` when a metric
// has not become better for more than `patience` epochs.
struct PlateauOptions {
  bool maximize = false;  // A larger metric is better.
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  bool absolute = false;            // Better by `threshold`; else by that part of the best.
  int64_t cooldown = 0;             // Epochs after a reduction that do not count.
  double min_rate = 0, eps = 1e-8;  // A reduction by less than eps is not made.
};
class ReduceLrOnPlateau {
 public:
  // The optimizer outlives it. Throws when the factor is not below 1.
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
