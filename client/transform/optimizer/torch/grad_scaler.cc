// The scale, the count and the flag for infinities are tensors, so that an iteration remains one program.
#include "hlod/optim/grad_scaler.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/tensor/autograd.h"

namespace hlod {
namespace {

constexpr char kScaler[] = "grad_scaler";

void RequireScalerOptions(const GradScalerOptions& options, const Caller& caller) {
  RequireWithin(Limit::kPositive, "init_scale", options.init_scale, kScaler, caller);
  RequireWithin(Limit::kAboveOne, "growth_factor", options.growth_factor, kScaler, caller);
  RequireWithin(Limit::kInsideOne, "backoff_factor", options.backoff_factor, kScaler, caller);
  RequireWithin(Limit::kPositive, "growth_interval", static_cast<double>(options.growth_interval), kScaler,
                caller);
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options, Caller caller)
    : options_(options), first_scale_(options.init_scale) {
  if (options.enabled) RequireScalerOptions(options, caller);
}

void GradScaler::SetOptions(const GradScalerOptions& options, Caller caller) {
  const bool enabled = options_.enabled;
  if (enabled) RequireScalerOptions(options, caller);
  options_ = options;
  options_.enabled = enabled;
}

void GradScaler::RequireScale(const char* operation, const Caller& caller) const {
  RequireThat(scale_.defined(), "no loss was scaled: Scale() comes first", operation, caller);
}

Tensor GradScaler::Scale(const Tensor& loss, Caller caller) {
  if (!options_.enabled) return loss;
  const CallerScope scope(caller);
  if (!scale_.defined()) {
    const NoGrad no_grad;
    scale_ = Full({}, first_scale_, {.type = kF32, .device = loss.device()});
    tracker_ = Full({}, first_tracker_, {.type = kS32, .device = loss.device()});
  }
  // The product is f32, because it may exceed the range of an f16 loss.
  const Tensor scale = scale_.To(loss.device());
  return loss.dtype() == kF64 ? loss * scale.To(kF64) : loss.To(kF32) * scale;
}
std::vector<Tensor> GradScaler::Scale(const std::vector<Tensor>& losses, Caller caller) {
  std::vector<Tensor> scaled;
  for (const Tensor& loss : losses) scaled.push_back(Scale(loss, caller));
  return scaled;
}

void GradScaler::Unscale_(ParameterOptimizer& optimizer, Caller caller) {
  if (!options_.enabled) return;
  RequireScale("unscale_", caller);
  PerOptimizer& seen = optimizers_[&optimizer];
  RequireThat(seen.stage != Stage::kUnscaled,
              "the gradients of this optimizer were unscaled since the last Update()", "unscale_", caller);
  RequireThat(seen.stage != Stage::kStepped, "this optimizer has made its step since the last Update()",
              "unscale_", caller);
  const std::vector<Tensor>& parameters = optimizer.parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor gradient = parameters[i].Grad();
    RequireThat(!gradient.defined() || gradient.dtype() != kF16,
                absl::StrCat("the gradient of parameter ", i,
                             " is of f16: parameters of f32 are scaled, and autocast computes in f16"),
                "unscale_", caller);
  }
  const NoGrad no_grad;
  const CallerScope scope(caller);
  const Tensor inverse = (1 / scale_.To(kF64)).To(kF32);
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.Grad();
    if (!gradient.defined()) continue;
    const Tensor infinite = LogicalNot(All(Isfinite(gradient))).To(scale_.device());
    seen.found_infinity = seen.found_infinity.defined() ? LogicalOr(seen.found_infinity, infinite) : infinite;
    gradient.Mul_(inverse.To(gradient.device()).To(gradient.dtype()));
  }
  seen.stage = Stage::kUnscaled;
}

void GradScaler::Step(ParameterOptimizer& optimizer, Caller caller) {
  if (!options_.enabled) return optimizer.Step(caller);
  RequireScale("step", caller);
  RequireThat(optimizers_[&optimizer].stage != Stage::kStepped,
              "this optimizer has made its step since the last Update()", "step", caller);
  if (optimizers_[&optimizer].stage == Stage::kReady) Unscale_(optimizer, caller);
  PerOptimizer& seen = optimizers_[&optimizer];
  RequireThat(seen.found_infinity.defined(), "no parameter of this optimizer has a gradient", "step", caller);
  optimizer.StepUnless(seen.found_infinity, caller);
  seen.stage = Stage::kStepped;
}

void GradScaler::Update(Caller caller) {
  if (!options_.enabled) return;
  RequireScale("update", caller);
  const NoGrad no_grad;
  const CallerScope scope(caller);
  Tensor found;
  for (const auto& [optimizer, seen] : optimizers_) {
    if (!seen.found_infinity.defined()) continue;
    found = found.defined() ? LogicalOr(found, seen.found_infinity) : seen.found_infinity;
  }
  RequireThat(found.defined(), "no gradients were unscaled since the last Update()", "update", caller);
  const Tensor count = tracker_ + 1, grows = Ge(count, options_.growth_interval),
               larger = scale_ * options_.growth_factor;
  // The scale stops growing before infinity.
  const Tensor grown = Where(LogicalAnd(grows, Isfinite(larger)), larger, scale_);
  scale_ = Where(found, scale_ * options_.backoff_factor, grown);
  tracker_ = Where(LogicalOr(found, grows), 0, count).To(kS32);
  optimizers_.clear();
}
void GradScaler::Update(double new_scale, Caller caller) {
  if (!options_.enabled) return;
  RequireScale("update", caller);
  RequireWithin(Limit::kPositive, "new_scale", new_scale, kScaler, caller);
  scale_ = Full({}, new_scale, {.type = kF32, .device = scale_.device()});
  optimizers_.clear();
}

double GradScaler::GetScale(Caller caller) const {
  if (!options_.enabled) return 1;
  return scale_.defined() ? scale_.Item<double>(caller) : first_scale_;
}

std::map<std::string, Tensor> GradScaler::StateDict() const {
  if (!options_.enabled) return {};
  const auto number = [](double value) { return FromValues<double>({value}, Dims{}); };
  return {{"scale", scale_.defined() ? scale_ : Full({}, first_scale_, {.type = kF32})},
          {"growth_factor", number(options_.growth_factor)},
          {"backoff_factor", number(options_.backoff_factor)},
          {"growth_interval", number(static_cast<double>(options_.growth_interval))},
          {"growth_tracker", tracker_.defined() ? tracker_ : Full({}, first_tracker_, {.type = kS32})}};
}

void GradScaler::LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller) {
  if (!options_.enabled) return;
  const auto number = [&](const char* name) {
    const auto found = state.find(name);
    RequireThat(found != state.end(), absl::StrCat("the state has no ", name), "load_state_dict", caller);
    return found->second.Item<double>(caller);
  };
  GradScalerOptions options = options_;
  options.growth_factor = number("growth_factor");
  options.backoff_factor = number("backoff_factor");
  options.growth_interval = static_cast<int64_t>(number("growth_interval"));
  const double scale = number("scale"), tracker = number("growth_tracker");
  RequireScalerOptions(options, caller);
  options_ = options;
  first_scale_ = scale;
  first_tracker_ = static_cast<int64_t>(tracker);
  if (!scale_.defined()) return;
  const Device device = scale_.device();
  scale_ = Full({}, first_scale_, {.type = kF32, .device = device});
  tracker_ = Full({}, first_tracker_, {.type = kS32, .device = device});
}

}  // namespace hlod
