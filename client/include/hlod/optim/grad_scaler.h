// Gradient scaling for training in f16: small gradients become zero there, so the loss is multiplied by a
// scale, and the gradients are divided by it before the step. A step whose gradients are infinite or NaN is
// skipped and makes the scale smaller; many steps without one make it larger.
//
//   hlod::GradScaler scaler;
//   scaler.Scale(loss).Backward();
//   scaler.Unscale_(adam);  // Only when gradients are read or clipped before the step.
//   scaler.Step(adam);
//   scaler.Update();
//
// Scale, count and the decision to skip are tensors on the device: nothing is read back, and all of it is one
// program with the step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hlod/optim/optimizers.h"
#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct GradScalerOptions {
  double init_scale = 65536;
  double growth_factor = 2, backoff_factor = 0.5;
  int64_t growth_interval = 2000;  // The number of consecutive finite steps after which the scale grows.
  bool enabled = true;  // False: Step() is the optimizer's step, and the other functions do nothing.
};

// torch.amp.GradScaler.
class GradScaler {
 public:
  // Throws when the growth factor is not above 1, the backoff factor not below 1, or another option not
  // positive.
  explicit GradScaler(const GradScalerOptions& options = {}, Caller caller = Caller::Here());

  // Returns the loss, or each of several, times the scale, as f32 or f64.
  Tensor Scale(const Tensor& loss, Caller caller = Caller::Here());
  std::vector<Tensor> Scale(const std::vector<Tensor>& losses, Caller caller = Caller::Here());

  // Divides the gradients of the optimizer's parameters by the scale, in place. At most once per step. Throws
  // for gradients of f16, which would lose the small values that the scale preserves: parameters should be
  // f32, and autocast lower them.
  void Unscale_(ParameterOptimizer& optimizer, Caller caller = Caller::Here());
  // Calls Unscale_() unless it was called since the last update; then makes the optimizer's step. When a
  // gradient is infinite or NaN, parameters and states keep their values.
  void Step(ParameterOptimizer& optimizer, Caller caller = Caller::Here());
  // Computes the scale for the next iteration, after the steps of all optimizers; or sets the given scale.
  void Update(Caller caller = Caller::Here());
  void Update(double new_scale, Caller caller = Caller::Here());

  // Returns the scale; waits for the device. 1 when disabled. torch.amp.GradScaler.get_scale.
  double GetScale(Caller caller = Caller::Here()) const;
  const GradScalerOptions& options() const { return options_; }
  // Sets other factors from the next update on; init_scale and enabled do not change. Throws as the
  // constructor does.
  void SetOptions(const GradScalerOptions& options, Caller caller = Caller::Here());

  // Returns the scale, the factors, the interval and the count of finite steps. Empty when disabled.
  std::map<std::string, Tensor> StateDict() const;
  // Throws, before anything is changed, when an entry is missing.
  void LoadStateDict(const std::map<std::string, Tensor>& state, Caller caller = Caller::Here());

 private:
  enum class Stage { kReady, kUnscaled, kStepped };
  struct PerOptimizer {
    Stage stage = Stage::kReady;
    Tensor found_infinity;  // A pred scalar; undefined while no gradient was checked.
  };
  void RequireScale(const char* operation, const Caller& caller) const;

  GradScalerOptions options_;
  // The scale (f32) and the count of good steps (s32), on the device of the first loss; undefined before it.
  Tensor scale_, tracker_;
  double first_scale_;
  int64_t first_tracker_ = 0;
  // The optimizers that were unscaled or stepped since the last update.
  std::map<const ParameterOptimizer*, PerOptimizer> optimizers_;
};

}  // namespace hlod
