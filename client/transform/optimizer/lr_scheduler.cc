// PyTorch's learning rate schedulers, in closed form.
#include "hlod/optim/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/transform/optimizer/limits.h"
#include "common/base/text/count.h"

namespace hlod {

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, Rule rule, MomentumRule momentum, Caller caller)
    : optimizer_(&optimizer), rules_({std::move(rule)}), momentum_(std::move(momentum)) {
  for (size_t i = 0; i < optimizer.group_count(); ++i) bases_.push_back(optimizer.learning_rate(i));
  SetEpoch(0, caller);
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
  for (size_t i = 0; i < optimizer.group_count(); ++i) bases_.push_back(optimizer.learning_rate(i));
  SetEpoch(0, caller);
}

std::optional<double> LrScheduler::MomentumAt(int64_t epoch) const {
  return momentum_ ? momentum_(epoch) : std::nullopt;
}
double LrScheduler::RateAt(double base, int64_t epoch, size_t group) const {
  return rules_[rules_.size() == 1 ? 0 : group](base, epoch);
}

void LrScheduler::SetEpoch(int64_t epoch, Caller caller) {
  epoch_ = epoch;
  const std::optional<double> momentum = MomentumAt(epoch);
  for (size_t i = 0; i < bases_.size(); ++i) {
    optimizer_->SetLearningRate(RateAt(bases_[i], epoch, i), i, caller);
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

LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma, Caller caller) {
  RequireWithin(Limit::kPositive, "step_size", static_cast<double>(step_size), "lr_scheduler", caller);
  return LambdaLr(optimizer,
                  [=](int64_t epoch) { return std::pow(gamma, static_cast<double>(epoch / step_size)); });
}

LrScheduler MultiStepLr(ParameterOptimizer& optimizer, std::vector<int64_t> milestones, double gamma) {
  std::sort(milestones.begin(), milestones.end());
  return LambdaLr(optimizer, [milestones = std::move(milestones), gamma](int64_t epoch) {
    const auto passed = std::upper_bound(milestones.begin(), milestones.end(), epoch) - milestones.begin();
    return std::pow(gamma, static_cast<double>(passed));
  });
}

LrScheduler ExponentialLr(ParameterOptimizer& optimizer, double gamma) {
  return LambdaLr(optimizer, [=](int64_t epoch) { return std::pow(gamma, static_cast<double>(epoch)); });
}

LrScheduler LinearLr(ParameterOptimizer& optimizer, double start, double end, int64_t total, Caller caller) {
  RequireWithin(Limit::kUpToOne, "start", start, "lr_scheduler", caller);
  RequireWithin(Limit::kUpToOne, "end", end, "lr_scheduler", caller);
  RequireWithin(Limit::kPositive, "total", static_cast<double>(total), "lr_scheduler", caller);
  return LambdaLr(optimizer, [=](int64_t epoch) {
    return start + (end - start) * static_cast<double>(std::min(epoch, total)) / static_cast<double>(total);
  });
}

LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum, Caller caller) {
  RequireWithin(Limit::kPositive, "t_max", static_cast<double>(t_max), "lr_scheduler", caller);
  return {optimizer, [=](double base, int64_t epoch) {
            const double turn = std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(t_max);
            return minimum + (base - minimum) * (1 + std::cos(turn)) / 2;
          }};
}

}  // namespace hlod
