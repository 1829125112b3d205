// Optimizers as Optax composes them: a gradient transformation maps gradients to updates, a chain of
// transformations is an optimizer, and its state is an ordinary tree of tensors, so a step can be traced,
// jitted and donated.
//
//   const optim::Optimizer adam = optim::Adam(1e-3);
//   optim::State state = adam.Init(params);
//   auto [updates, next] = adam.Update(grads, state, params);
//   params = optim::ApplyUpdates(params, updates);
//
// Names, defaults and results are Optax's. Every update equals Optax's up to rounding. A parameter that took
// no part in the loss has an undefined gradient, and its update is undefined: the parameter and its state
// stay as they are, as in PyTorch. The count of steps is common to all parameters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "hlod/tensor/tensor.h"
#include "hlod/transform/tree.h"

namespace hlod::optim {

// The state that transformations keep from step to step: a list of tensors per transformation of the chain.
// Step counts are s32 scalars on the parameters' device, so that they never recompile a step.
struct State {
  std::vector<std::vector<Tensor>> parts;
};

// A function from the number of steps to a value. The value is an f32 scalar; f64 when the count is s64,
// which it is for parameters of f64.
using Schedule = std::function<Tensor(const Tensor& count)>;

class Rate;

// A setting of a rule: a number, or a scalar tensor in its place, as InjectHyperparams() hands out.
class Number {
 public:
  Number(double value) : value_(value) {}  // NOLINT: implicit.
  explicit Number(Tensor scalar) : tensor_(std::move(scalar)), is_tensor_(true) {}
  // The number or tensor that `rate` is. Throws Error (kind argument) when it is a schedule: only
  // InjectHyperparams() has a count of steps for every setting.
  Number(const Rate& rate);  // NOLINT

  bool is_tensor() const { return is_tensor_; }
  // Throws Error (kind argument) for a tensor.
  double value(Caller caller = Caller::Here()) const;
  const Tensor& tensor() const { return tensor_; }
  operator Operand() const { return is_tensor_ ? Operand(tensor_) : Operand(value_); }  // NOLINT

 private:
  double value_ = 0;
  Tensor tensor_;
  bool is_tensor_ = false;
};

// A number, or a schedule, which is called with the number of steps made before.
class Rate {
 public:
  Rate(double value) : value_(value) {}                        // NOLINT: implicit.
  Rate(Schedule schedule) : schedule_(std::move(schedule)) {}  // NOLINT
  Rate(const Number& number);                                  // NOLINT

  // Throws Error (kind argument) for a schedule or a tensor.
  double value(Caller caller = Caller::Here()) const;
  const Schedule& schedule() const { return schedule_; }  // Empty when the rate is the number `value`.

 private:
  friend class Number;
  double value_ = 0;
  Schedule schedule_;
  std::optional<Tensor> tensor_;  // The only value of `schedule_`, when it is made of a number.
};

// Throws Error (kind argument) when the length of a list for the parameters' leaves is not their number.
void CheckListLength(size_t list, size_t leaves);

// A value for each defined leaf of the parameters, in order: a list, or a function of the leaf.
template <typename T>
class OfLeaves {
 public:
  OfLeaves() = default;
  OfLeaves(std::vector<T> list) : list_(std::move(list)), is_list_(true) {}  // NOLINT: implicit.
  template <typename F>
  requires std::is_invocable_r_v<T, F, const Tensor&> OfLeaves(F rule) : rule_(std::move(rule)) {}  // NOLINT

  bool empty() const { return !is_list_ && !rule_; }
  // Throws when a list has another length.
  std::vector<T> Of(const std::vector<Tensor>& params) const {
    if (is_list_) CheckListLength(list_.size(), params.size());
    if (is_list_ || !rule_) return list_;
    std::vector<T> values;
    for (const Tensor& param : params) values.push_back(rule_(param));
    return values;
  }

 private:
  std::vector<T> list_;
  std::function<T(const Tensor& param)> rule_;
  bool is_list_ = false;
};
// Selects leaves; a default-constructed mask selects all.
class Mask : public OfLeaves<bool> {
 public:
  using OfLeaves::OfLeaves;
  bool everything() const { return empty(); }
};

// Arguments of an update besides the gradients: optax.GradientTransformationExtraArgs.
struct ExtraArgs {
  Tensor value = {};  // The loss, a scalar: for ScaleByPolyak().
};

class Transformation;  // client/transform/optimizer/transformation.h

// A chain of gradient transformations. Immutable; copies share it.
class Optimizer {
 public:
  explicit Optimizer(std::vector<std::shared_ptr<const Transformation>> chain) : chain_(std::move(chain)) {}

  // Returns the state before the first step, on the devices of `params`, a tree of floating tensors. The
  // states of placeholders are placeholders.
  template <typename T>
  State Init(const T& params, Caller caller = Caller::Here()) const {
    const CallerScope scope(caller);
    return InitLeaves(Leaves(params));
  }
  // Returns the updates, which are to be added to `params`, and the next state. `grads` has the structure of
  // `params`, except that leaves of it may be undefined.
  template <typename T>
  std::pair<T, State> Update(const T& grads, const State& state, const T& params,
                             Caller caller = Caller::Here()) const {
    return Update(grads, state, params, ExtraArgs(), caller);
  }

  template <typename T>
  std::pair<T, State> Update(const T& grads, const State& state, const T& params, const ExtraArgs& extra,
                             Caller caller = Caller::Here()) const {
    const CallerScope scope(caller);
    std::vector<Tensor> updates = AllLeaves(grads);
    State next = UpdateLeaves(updates, state, AllLeaves(params), extra);
    return {WithAllLeaves(grads, updates), std::move(next)};
  }

  State InitLeaves(const std::vector<Tensor>& params) const;
  // Divides the tensors of a state that was made before the parameters were divided on a mesh as these.
  // Others stay where they are.
  static void PlaceLeaves(const std::vector<Tensor>& params, const State& state);
  // Replaces `updates`, which come in as the gradients, by the tensors to add to the parameters. An undefined
  // parameter has no gradient and no state.
  State UpdateLeaves(std::vector<Tensor>& updates, const State& state, const std::vector<Tensor>& params,
                     const ExtraArgs& extra = {}) const;

  const std::vector<std::shared_ptr<const Transformation>>& chain() const { return chain_; }
  size_t part_count() const;  // The number of parts of its state.

 private:
  std::vector<std::shared_ptr<const Transformation>> chain_;
};

// Returns p + u in p's type for each leaf, or p itself where u is undefined.
std::vector<Tensor> ApplyLeaves(const std::vector<Tensor>& params, const std::vector<Tensor>& updates);
template <typename T>
T ApplyUpdates(const T& params, const T& updates, Caller caller = Caller::Here()) {
  const CallerScope scope(caller);
  return WithAllLeaves(params, ApplyLeaves(AllLeaves(params), AllLeaves(updates)));
}

// Returns the optimizer that applies these one after the other.
Optimizer Chain(const std::vector<Optimizer>& optimizers);

Optimizer Sgd(Rate rate, std::optional<Number> momentum = {}, bool nesterov = false);
struct AdamOptions {
  Number b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0;
  bool nesterov = false;
};
Optimizer Adam(Rate rate, const AdamOptions& options = {});
// `mask` selects the parameters that decay.
Optimizer AdamW(Rate rate, Rate weight_decay = 1e-4, const AdamOptions& options = {}, const Mask& mask = {});
Optimizer Lion(Rate rate, const Number& b1 = 0.9, const Number& b2 = 0.99, Rate weight_decay = 1e-3);
struct BeliefOptions {
  Number b1 = 0.9, b2 = 0.999, eps = 1e-16, eps_root = 1e-16;
  bool nesterov = false;
};
Optimizer AdaBelief(Rate rate, const BeliefOptions& options = {});
struct LambOptions {
  Number b1 = 0.9, b2 = 0.999, eps = 1e-6, eps_root = 0, weight_decay = 0;
  Mask mask = {};  // Selects the parameters that decay.
};
Optimizer Lamb(Rate rate, const LambOptions& options = {});
struct LarsOptions {
  Number weight_decay = 0;
  Mask weight_decay_mask = {};
  Number trust_coefficient = 1e-3, eps = 0;
  Mask trust_ratio_mask = {};
  Number momentum = 0.9;
  bool nesterov = false;
};
Optimizer Lars(Rate rate, const LarsOptions& options = {});
// Updates matrices by momentum that is made orthogonal (Jordan, 2024), and all other leaves by AdamW with the
// same rate.
struct MuonOptions {
  // c0, c1 and c2 of X <- c0 X + c1 (X X') X + c2 (X X')^2 X: one list per iteration, or one list for all
  // ns_steps iterations.
  std::vector<std::array<double, 3>> ns_coeffs = {{3.4445, -4.7750, 2.0315}};
  int64_t ns_steps = 5;
  Number beta = 0.95, eps = 1e-8, weight_decay = 0;
  Mask weight_decay_mask = {};  // Selects among the matrices, in order; other leaves are not listed.
  bool nesterov = true;
  bool adaptive = false;  // Multiplies the update by the product of momentum and update.
  Number adam_b1 = 0.9, adam_b2 = 0.999, adam_eps_root = 0, adam_weight_decay = 0;
  std::optional<Rate> adam_rate = {};
  std::optional<Number> consistent_rms = {};  // As in ScaleByShape().
};
Optimizer Muon(Rate rate, const MuonOptions& options = {}, Caller caller = Caller::Here());
struct AdafactorOptions {
  int64_t min_dim_size_to_factor = 128;
  Number decay_rate = 0.8;
  int64_t decay_offset = 0;
  bool multiply_by_parameter_scale = true;
  std::optional<Number> clipping_threshold = 1.0;
  std::optional<Number> momentum = {};
  std::optional<Number> weight_decay_rate = {};
  Number eps = 1e-30;
  bool factored = true;
};
Optimizer Adafactor(std::optional<Rate> rate = {}, const AdafactorOptions& options = {});

// Gradient transformations, the links of a chain. Each comment says what becomes of the updates.
Optimizer Identity();
Optimizer Scale(const Number& factor);
Optimizer ScaleByLearningRate(Rate rate);  // Multiplies by -rate.
Optimizer ScaleBySchedule(Schedule schedule);
Optimizer Trace(const Number& decay, bool nesterov = false);
Optimizer Ema(const Number& decay, bool debias = true);
Optimizer ScaleByAdam(const AdamOptions& options = {});
Optimizer ScaleByLion(const Number& b1 = 0.9, const Number& b2 = 0.99);
Optimizer ScaleByFactoredRms(const AdafactorOptions& options = {});
Optimizer ScaleByParamBlockRms(const Number& min_scale = 1e-3);
Optimizer ScaleByBelief(const BeliefOptions& options = {});
// Multiplies by trust_coefficient |p| / (|u| + eps). The norms are per leaf and at least min_norm; the factor
// is 1 where a norm is 0.
Optimizer ScaleByTrustRatio(const Number& min_norm = 0, const Number& trust_coefficient = 1,
                            const Number& eps = 0);
// Only for leaves that are matrices, like the transformation that follows.
Optimizer ScaleByMuon(const MuonOptions& options = {}, Caller caller = Caller::Here());
// Multiplies by sqrt(max(1, columns / rows)); or with `consistent_rms`, by consistent_rms sqrt(max(rows,
// columns)).
Optimizer ScaleByShape(const std::optional<Number>& consistent_rms = {});
Optimizer AddDecayedWeights(Rate weight_decay, const Mask& mask = {});
// Clamps each element to [-max_delta, max_delta].
Optimizer Clip(const Number& max_delta);
// Scales all leaves together to a norm of at most max_norm.
Optimizer ClipByGlobalNorm(const Number& max_norm);
// Scales each leaf to a root mean square of at most `threshold`.
Optimizer ClipByBlockRms(const Number& threshold);

Schedule ConstantSchedule(double value);
struct ExponentialDecayOptions {
  int64_t transition_begin = 0;
  bool staircase = false;
  std::optional<double> end_value = {};
};
Schedule ExponentialDecay(double init_value, int64_t transition_steps, double decay_rate,
                          const ExponentialDecayOptions& options = {});
Schedule CosineDecay(double init_value, int64_t decay_steps, double alpha = 0, double exponent = 1,
                     Caller caller = Caller::Here());
Schedule PolynomialSchedule(double init_value, double end_value, double power, int64_t transition_steps,
                            int64_t transition_begin = 0);
Schedule LinearSchedule(double init_value, double end_value, int64_t transition_steps,
                        int64_t transition_begin = 0);
Schedule WarmupCosineDecay(double init_value, double peak_value, int64_t warmup_steps, int64_t decay_steps,
                           double end_value = 0, double exponent = 1, Caller caller = Caller::Here());
Schedule PiecewiseConstant(double init_value, const std::map<int64_t, double>& boundaries_and_scales);
// Schedule i + 1 begins at boundaries[i], and counts steps from there.
Schedule JoinSchedules(const std::vector<Schedule>& schedules, const std::vector<int64_t>& boundaries,
                       Caller caller = Caller::Here());

}  // namespace hlod::optim
