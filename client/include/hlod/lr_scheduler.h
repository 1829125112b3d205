// Learning rates by the epoch, as torch.optim.lr_scheduler: an object that changes an optimizer's rate at
// each of its steps. Nothing compiles again.
//
//   hlod::Adam adam(model.Parameters(), {.lr = 1e-3});
//   hlod::LrScheduler schedule = hlod::CosineAnnealingLr(adam, 100);
//   for (...) { ...; adam.Step(); schedule.Step(); }
#pragma once

#include <cstdint>
#include <functional>
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

}  // namespace hlod
