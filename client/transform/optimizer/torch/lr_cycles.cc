// PyTorch's learning rate schedulers that rise and fall, that run one after another, or that depend on a
// metric.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/torch/factor_lr.h"
#include "hlod/optim/lr_scheduler.h"

namespace hlod {
namespace {

constexpr char kScheduler[] = "lr_scheduler";

double Between(double from, double to, double part, bool linear) {
  return linear ? from + (to - from) * part : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
}

}  // namespace

LrScheduler CosineAnnealingWarmRestarts(ParameterOptimizer& optimizer, int64_t t_0, int64_t t_mult,
                                        double minimum, Caller caller) {
  RequireWithin(Limit::kPositive, "t_0", static_cast<double>(t_0), kScheduler, caller);
  RequireWithin(Limit::kPositive, "t_mult", static_cast<double>(t_mult), kScheduler, caller);
  return {optimizer, [=](double base, int64_t epoch) {
            int64_t length = t_0;
            while (epoch >= length) {
              epoch -= length;
              length *= t_mult;
            }
            return Between(base, minimum, static_cast<double>(epoch) / static_cast<double>(length),
                           /*linear=*/false);
          }};
}

LrScheduler ConstantLr(ParameterOptimizer& optimizer, double factor, int64_t total, Caller caller) {
  RequireWithin(Limit::kUpToOne, "factor", factor, kScheduler, caller);
  return FactorLr(optimizer, [=](int64_t epoch) { return epoch < total ? factor : 1.0; });
}

LrScheduler PolynomialLr(ParameterOptimizer& optimizer, int64_t total, double power, Caller caller) {
  RequireWithin(Limit::kPositive, "total", static_cast<double>(total), kScheduler, caller);
  return FactorLr(optimizer, [=](int64_t epoch) {
    return std::pow(1 - static_cast<double>(std::min(epoch, total)) / static_cast<double>(total), power);
  });
}

LrScheduler MultiplicativeLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor) {
  const auto product = [factor](int64_t epoch) {
    double all = 1;
    for (int64_t i = 1; i <= epoch; ++i) all *= factor(i);
    return all;
  };
  return FactorLr(optimizer, product, factor);
}

namespace {

// Throws unless the optimizer has a momentum, when one is to be cycled.
void RequireMomentum(const ParameterOptimizer& optimizer, bool cycle_momentum, const Caller& caller) {
  RequireThat(!cycle_momentum || optimizer.momentum().has_value(),
              "the optimizer has neither a momentum nor betas to cycle: set cycle_momentum to false",
              kScheduler, caller);
}

// The values of a cycle at its first epoch, where it is highest, and at the end. Momenta go the other way.
struct Cycle {
  double first, top, last;
};
double OneCycleAt(const OneCycleOptions& o, const Cycle& cycle, int64_t epoch) {
  const auto total = static_cast<double>(o.total), top = o.pct_start * total - 1;
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases = {{top, cycle.first, cycle.top}};
  if (o.three_phase) phases.push_back({2 * top, cycle.top, cycle.first});
  phases.push_back({total - 1, phases.back().to, cycle.last});
  double begin = 0;
  for (const Phase& phase : phases) {
    const auto at = static_cast<double>(epoch);
    // A phase of length 0 is at its end.
    const double part = phase.end > begin ? (at - begin) / (phase.end - begin) : 1;
    if (at <= phase.end) return Between(phase.from, phase.to, part, o.linear);
    begin = phase.end;
  }
  return cycle.last;
}

// Returns the part of the height of the cycle that is reached at an epoch.
double CyclicHeight(const CyclicOptions& o, int64_t epoch) {
  const auto up = static_cast<double>(o.step_size_up);
  const double all = up + static_cast<double>(o.step_size_down.value_or(o.step_size_up));
  const double cycle = std::floor(static_cast<double>(epoch) / all),
               part = static_cast<double>(epoch) / all - cycle;
  const double rise = up / all, height = part <= rise ? part / rise : (1 - part) / (1 - rise);
  if (o.mode == CyclicOptions::Mode::kTriangular2) return height * std::pow(2, -cycle);
  if (o.mode == CyclicOptions::Mode::kExpRange) return height * std::pow(o.gamma, static_cast<double>(epoch));
  return height;
}

}  // namespace

LrScheduler OneCycleLr(ParameterOptimizer& optimizer, const OneCycleOptions& o, Caller caller) {
  RequireWithin(Limit::kPositive, "max_rate", o.max_rate, kScheduler, caller);
  RequireWithin(Limit::kAboveOne, "total", static_cast<double>(o.total), kScheduler, caller);
  RequireWithin(Limit::kUpToOne, "pct_start", o.pct_start, kScheduler, caller);
  RequireMomentum(optimizer, o.cycle_momentum, caller);
  const double first = o.max_rate / o.div_factor;
  const Cycle rates = {first, o.max_rate, first / o.final_div_factor};
  const Cycle momenta = {o.max_momentum, o.base_momentum, o.max_momentum};
  LrScheduler::MomentumRule momentum;
  if (o.cycle_momentum) momentum = [=](int64_t epoch) { return OneCycleAt(o, momenta, epoch); };
  return {optimizer, [=](double, int64_t epoch) { return OneCycleAt(o, rates, epoch); }, momentum, caller};
}

LrScheduler CyclicLr(ParameterOptimizer& optimizer, const CyclicOptions& o, Caller caller) {
  RequireWithin(Limit::kPositive, "step_size_up", static_cast<double>(o.step_size_up), kScheduler, caller);
  RequireWithin(Limit::kPositive, "step_size_down",
                static_cast<double>(o.step_size_down.value_or(o.step_size_up)), kScheduler, caller);
  RequireMomentum(optimizer, o.cycle_momentum, caller);
  LrScheduler::MomentumRule momentum;
  if (o.cycle_momentum) {
    momentum = [=](int64_t epoch) {
      return o.max_momentum - (o.max_momentum - o.base_momentum) * CyclicHeight(o, epoch);
    };
  }
  const auto rate = [=](double, int64_t epoch) {
    return o.base_rate + (o.max_rate - o.base_rate) * CyclicHeight(o, epoch);
  };
  return {optimizer, rate, momentum, caller};
}

LrScheduler SequentialLr(ParameterOptimizer& optimizer, const std::vector<LrScheduler>& schedulers,
                         std::vector<int64_t> milestones, Caller caller) {
  RequireThat(!schedulers.empty() && milestones.size() + 1 == schedulers.size() &&
                  std::is_sorted(milestones.begin(), milestones.end()),
              absl::StrCat(schedulers.size(), " schedulers take one milestone less, in ascending order, not ",
                           milestones.size()),
              kScheduler, caller);
  for (const LrScheduler& scheduler : schedulers) {
    RequireThat(scheduler.group_count() == optimizer.group_count(),
                absl::StrCat("a scheduler is of ", scheduler.group_count(), " groups, the optimizer has ",
                             optimizer.group_count()),
                kScheduler, caller);
  }
  // Returns the scheduler of an epoch, and the epochs since it began.
  const auto now = [schedulers, milestones](int64_t epoch) {
    const auto next = std::upper_bound(milestones.begin(), milestones.end(), epoch);
    const auto begin = next == milestones.begin() ? 0 : *std::prev(next);
    return std::pair(schedulers[static_cast<size_t>(next - milestones.begin())], epoch - begin);
  };
  std::vector<LrScheduler::Rule> rules;
  for (size_t group = 0; group < optimizer.group_count(); ++group) {
    const double base = schedulers.front().base_rate(group);
    rules.push_back([now, base, group](double, int64_t epoch) {
      const auto [scheduler, since] = now(epoch);
      return scheduler.RateAt(base, since, group);
    });
  }
  const auto momentum = [now](int64_t epoch) {
    const auto [scheduler, since] = now(epoch);
    return scheduler.MomentumAt(since);
  };
  return LrScheduler(optimizer, std::move(rules), momentum, caller);
}

ChainedScheduler::ChainedScheduler(std::vector<LrScheduler> schedulers, Caller caller)
    : schedulers_(std::move(schedulers)) {
  RequireThat(!schedulers_.empty(), "there are no schedulers to chain", kScheduler, caller);
  for (size_t i = 1; i < schedulers_.size(); ++i) {
    RequireThat(&schedulers_[i].optimizer() == &schedulers_[0].optimizer(),
                absl::StrCat("schedulers 0 and ", i, " of a chain are of different optimizers"), kScheduler,
                caller);
  }
}
void ChainedScheduler::Step(Caller caller) {
  for (LrScheduler& scheduler : schedulers_) scheduler.Step(caller);
}

ReduceLrOnPlateau::ReduceLrOnPlateau(ParameterOptimizer& optimizer, const PlateauOptions& options,
                                     Caller caller)
    : optimizer_(&optimizer),
      options_(options),
      best_((options.maximize ? -1 : 1) * std::numeric_limits<double>::infinity()) {
  RequireThat(options.factor < 1, absl::StrCat("the factor (", options.factor, ") must be below 1"),
              kScheduler, caller);
}

bool ReduceLrOnPlateau::IsBetter(double metric) const {
  const double sign = options_.maximize ? 1 : -1;
  if (options_.absolute) return sign * (metric - best_) > options_.threshold;
  return sign * (metric - best_ * (1 + sign * options_.threshold)) > 0;
}

void ReduceLrOnPlateau::Step(double metric) {
  if (IsBetter(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= options_.patience) return;
  for (size_t i = 0; i < optimizer_->group_count(); ++i) {
    const double before = optimizer_->learning_rate(i),
                 after = std::max(before * options_.factor, options_.min_rate);
    if (before - after > options_.eps) optimizer_->SetRate(after, i);
  }
  cooldown_left_ = options_.cooldown;
  bad_epochs_ = 0;
}

}  // namespace hlod
