// PyTorch's learning rate schedulers, in closed form, and as recurrences where PyTorch has these: so that two
// of them may act on one rate.
#include "hlod/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/torch/factor_lr.h"
#include "common/base/text/count.h"

namespace hlod {

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, Rule rule, MomentumRule momentum, Caller caller)
    : optimizer_(&optimizer), rules_({std::move(rule)}), momentum_(std::move(momentum)) {
  TakeBases();
  SetEpoch(0, caller);
}

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, Rule rule, Recurrence next, Caller caller)
    : optimizer_(&optimizer), rules_({std::move(rule)}), next_(std::move(next)) {
  TakeBases();
  Reach(0, true, caller);
}

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, std::vector<Rule> rules, Caller caller)
    : LrScheduler(optimizer, std::move(rules), MomentumRule(), caller) {}

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, std::vector<Rule> rules, MomentumRule momentum,
                         Caller caller)
    : optimizer_(&optimizer), rules_(std::move(rules)), momentum_(std::move(momentum)) {
  RequireThat(
      rules_.size() == optimizer.group_count(),
      absl::StrCat("the scheduler has ", CountText(static_cast<int64_t>(rules_.size()), "rule"), " for ",
                   CountText(static_cast<int64_t>(optimizer.group_count()), "group"), " of parameters"),
      "lr_scheduler", caller);
  TakeBases();
  SetEpoch(0, caller);
}

void LrScheduler::TakeBases() {
  for (size_t i = 0; i < optimizer_->group_count(); ++i) bases_.push_back(optimizer_->FirstRate(i));
}

std::optional<double> LrScheduler::MomentumAt(int64_t epoch) const {
  return momentum_ ? momentum_(epoch) : std::nullopt;
}
double LrScheduler::RateAt(double base, int64_t epoch, size_t group) const {
  return rules_[rules_.size() == 1 ? 0 : group](base, epoch);
}

void LrScheduler::Step(Caller caller) { Reach(epoch_ + 1, next_ != nullptr, caller); }
void LrScheduler::SetEpoch(int64_t epoch, Caller caller) { Reach(epoch, false, caller); }
void LrScheduler::Reach(int64_t epoch, bool by_recurrence, const Caller& caller) {
  epoch_ = epoch;
  const std::optional<double> momentum = MomentumAt(epoch);
  for (size_t i = 0; i < bases_.size(); ++i) {
    optimizer_->RequireGroup(i, "lr_scheduler", caller);
    optimizer_->SetRate(
        by_recurrence ? next_(optimizer_->RateOf(i), bases_[i], epoch) : RateAt(bases_[i], epoch, i), i);
    if (momentum) optimizer_->SetMomentum(*momentum, i, caller);
  }
}

LrScheduler LambdaLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor) {
  return {optimizer,
          [factor = std::move(factor)](double base, int64_t epoch) { return base * factor(epoch); }};
}

LrScheduler LambdaLr(ParameterOptimizer& optimizer,
                     const std::vector<std::function<double(int64_t epoch)>>& factors, Caller caller) {
  std::vector<LrScheduler::Rule> rules;
  for (const auto& factor : factors) {
    rules.push_back([factor](double base, int64_t epoch) { return base * factor(epoch); });
  }
  return LrScheduler(optimizer, std::move(rules), caller);
}

LrScheduler FactorLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor,
                     std::function<double(int64_t epoch)> change) {
  const auto rule = [factor](double base, int64_t epoch) { return base * factor(epoch); };
  const auto next = [factor, change = std::move(change)](double current, double base, int64_t epoch) {
    if (epoch == 0) return current * factor(0);
    if (change) return current * change(epoch);
    // A rate that was 0 cannot be multiplied.
    const double before = factor(epoch - 1);
    return before == 0 ? base * factor(epoch) : current * (factor(epoch) / before);
  };
  return LrScheduler(optimizer, rule, LrScheduler::Recurrence(next));
}

LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma, Caller caller) {
  RequireWithin(Limit::kPositive, "step_size", static_cast<double>(step_size), "lr_scheduler", caller);
  return FactorLr(
      optimizer, [=](int64_t epoch) { return std::pow(gamma, static_cast<double>(epoch / step_size)); },
      [=](int64_t epoch) { return epoch % step_size == 0 ? gamma : 1; });
}

LrScheduler MultiStepLr(ParameterOptimizer& optimizer, std::vector<int64_t> milestones, double gamma) {
  std::sort(milestones.begin(), milestones.end());
  // Returns the power of gamma from one epoch, which is not counted, to another.
  const auto power = [milestones = std::move(milestones), gamma](int64_t after, int64_t epoch) {
    const auto passed = std::upper_bound(milestones.begin(), milestones.end(), epoch) -
                        std::upper_bound(milestones.begin(), milestones.end(), after);
    return std::pow(gamma, static_cast<double>(passed));
  };
  return FactorLr(
      optimizer, [power](int64_t epoch) { return power(std::numeric_limits<int64_t>::min(), epoch); },
      [power](int64_t epoch) { return power(epoch - 1, epoch); });
}

LrScheduler ExponentialLr(ParameterOptimizer& optimizer, double gamma) {
  return FactorLr(
      optimizer, [=](int64_t epoch) { return std::pow(gamma, static_cast<double>(epoch)); },
      [=](int64_t) { return gamma; });
}

LrScheduler LinearLr(ParameterOptimizer& optimizer, double start, double end, int64_t total, Caller caller) {
  RequireWithin(Limit::kUpToOne, "start", start, "lr_scheduler", caller);
  RequireWithin(Limit::kUpToOne, "end", end, "lr_scheduler", caller);
  RequireWithin(Limit::kPositive, "total", static_cast<double>(total), "lr_scheduler", caller);
  return FactorLr(optimizer, [=](int64_t epoch) {
    return start + (end - start) * static_cast<double>(std::min(epoch, total)) / static_cast<double>(total);
  });
}

LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum, Caller caller) {
  RequireWithin(Limit::kPositive, "t_max", static_cast<double>(t_max), "lr_scheduler", caller);
  // Returns the height at an epoch, from 1 at the top to 0 at the bottom.
  const auto height = [t_max](int64_t epoch) {
    return (1 + std::cos(std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(t_max))) / 2;
  };
  const auto next = [=](double current, double base, int64_t epoch) {
    if (epoch == 0) return current;
    const int64_t before = epoch - 1;
    if (before % (2 * t_max) == t_max) return current + (base - minimum) * height(epoch);
    return minimum + (current - minimum) * height(epoch) / height(before);
  };
  return LrScheduler(
      optimizer, [=](double base, int64_t epoch) { return minimum + (base - minimum) * height(epoch); },
      LrScheduler::Recurrence(next));
}

}  // namespace hlod
