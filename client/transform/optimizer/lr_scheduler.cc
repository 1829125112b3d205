// PyTorch's learning rates, in closed form.
#include "hlod/lr_scheduler.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/throw.h"

namespace hlod {
namespace {

void RequirePositive(const char* name, int64_t value) {
  if (value > 0) return;
  lazy::Throw(ErrorKind::kArgument, absl::StrCat(name, " is ", value, ", and must be positive"),
              "lr_scheduler", Caller{});
}

}  // namespace

LrScheduler::LrScheduler(ParameterOptimizer& optimizer, Rule rule)
    : optimizer_(&optimizer), base_(optimizer.learning_rate()), rule_(std::move(rule)) {
  SetEpoch(0);
}

void LrScheduler::SetEpoch(int64_t epoch) {
  epoch_ = epoch;
  optimizer_->SetLearningRate(rule_(base_, epoch));
}

LrScheduler LambdaLr(ParameterOptimizer& optimizer, std::function<double(int64_t epoch)> factor) {
  return {optimizer,
          [factor = std::move(factor)](double base, int64_t epoch) { return base * factor(epoch); }};
}

LrScheduler StepLr(ParameterOptimizer& optimizer, int64_t step_size, double gamma) {
  RequirePositive("step_size", step_size);
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

LrScheduler LinearLr(ParameterOptimizer& optimizer, double start, double end, int64_t total) {
  RequirePositive("total", total);
  return LambdaLr(optimizer, [=](int64_t epoch) {
    return start + (end - start) * static_cast<double>(std::min(epoch, total)) / static_cast<double>(total);
  });
}

LrScheduler CosineAnnealingLr(ParameterOptimizer& optimizer, int64_t t_max, double minimum) {
  RequirePositive("t_max", t_max);
  return {optimizer, [=](double base, int64_t epoch) {
            const double turn = std::numbers::pi * static_cast<double>(epoch) / static_cast<double>(t_max);
            return minimum + (base - minimum) * (1 + std::cos(turn)) / 2;
          }};
}

}  // namespace hlod
