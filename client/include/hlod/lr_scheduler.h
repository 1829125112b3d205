// Learning rates by the epoch, as torch.optim.lr_scheduler: an object that changes an optimizer's rate at
// each of its steps. Nothing compiles again.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   hlod::LrScheduler schedule = hlod::CosineAnnealingLr(adam, 100);
//   for (...) { ...; adam.Step(); schedule.Step(); }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "hlod/optimizers.h"

namespace hlod {

// The rate is rule(the rate that the optimizer had first, the number of steps so far). The optimizer outlives
// the scheduler.
class LrScheduler {
 public:
  using Rule = std::function<double(double base, int64_t epoch)>;
  // Sets the rate of epoch 0.
  LrScheduler(ParameterOptimizer& optimizer, Rule rule);

  void Step() { SetEpoch(epoch_ + 1); }
  // Goes on from there, as when training goes on from a file.
  void SetEpoch(int64_t epoch);

  // The rate that the rule has for an epoch, from another first rate.
  double RateAt(double base, int64_t epoch) const { return rule_(base, epoch); }

  int64_t epoch() const { return epoch_; }
  double base_rate() const { return base_; }
  double last_rate() const { return optimizer_->learning_rate(); }

 private:
  ParameterOptimizer* optimizer_;
  double base_;
  Rule rule_;
  int64_t epoch_ = 0;
};

// The base times factor(epoch).
LrScheduler LambdaLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor);
// Times gamma every `step_size` epochs; at each of the milestones; at every epoch.
LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma = 0.1);
LrScheduler MultiStepLr(ParameterOptimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
LrScheduler ExponentialLr(ParameterOptimizer& optimizer, double gamma);
// From the base times `start` to the base times `end` in `total` epochs.
LrScheduler LinearLr(ParameterOptimizer& optimizer, double start = 1.0 / 3, double end = 1,
                     int64_t total = 5);
// From the base down to `minimum` in t_max epochs along half a cosine, and up again.
LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum = 0);
// The same from the base down, and at once back to it: after t_0 epochs, then after t_mult times as many each
// time.
LrScheduler CosineAnnealingWarmRestarts(ParameterOptimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                                        double minimum = 0);
// Times `factor` for the first `total` epochs.
LrScheduler ConstantLr(ParameterOptimizer& optimizer, double factor = 1.0 / 3, int64_t total = 5);
// From the base to 0 in `total` epochs, by (1 - epoch / total)^power.
LrScheduler PolynomialLr(ParameterOptimizer& optimizer, int64_t total = 5, double power = 1);
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
LrScheduler OneCycleLr(ParameterOptimizer& optimizer, const OneCycleOptions& options);

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
LrScheduler CyclicLr(ParameterOptimizer& optimizer, const CyclicOptions& options);

// torch.optim.lr_scheduler.SequentialLR: rule i + 1 begins at milestones[i], and counts from there, each from
// the base rate of the first. Each rule is that of a scheduler of the same optimizer, made before this one.
LrScheduler SequentialLr(ParameterOptimizer& optimizer, const std::vector<LrScheduler>& schedulers,
                         std::vector<int64_t> milestones);

// torch.optim.lr_scheduler.ReduceLROnPlateau: the rate is multiplied by `factor` when a metric has not become
// better for more than `patience` epochs.
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
  double last_rate() const { return optimizer_->learning_rate(); }

 private:
  bool IsBetter(double metric) const;

  ParameterOptimizer* optimizer_;
  PlateauOptions options_;
  double best_;
  int64_t bad_epochs_ = 0, cooldown_left_ = 0;
};

}  // namespace hlod
