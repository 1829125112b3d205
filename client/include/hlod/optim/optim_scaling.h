// More of Optax: transformations that scale gradients, the optimizers made of them, and schedules. Names,
// defaults and results are Optax's (hlod/optim/optim.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hlod/ops/elementwise.h"
#include "hlod/optim/optim.h"

namespace hlod::optim {

// Parts.
struct RmsOptions {
  double decay = 0.9, eps = 1e-8, initial_scale = 0;
  bool eps_in_sqrt = true;  // 1 / sqrt(v + eps); otherwise 1 / (sqrt(v) + eps).
  bool bias_correction = false;
};
Optimizer ScaleByRms(const RmsOptions& options = {});  // By the mean of the squares.
Optimizer ScaleByStddev(
    const RmsOptions& options = {});  // By the mean of the squares without the squared mean.
Optimizer ScaleByRss(double initial_accumulator_value = 0.1,
                     double eps = 1e-7);  // By the sum of the squares.
Optimizer ScaleBySign();
struct AmsgradOptions {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0;
  bool bias_correction_mu = true, bias_correction_nu = true;
};
Optimizer ScaleByAmsgrad(const AmsgradOptions& options = {});
Optimizer ScaleByAdamax(double b1 = 0.9, double b2 = 0.999, double eps = 1e-8);
// By the sign, times a step size per element that grows while the sign stays. Riedmiller and Braun, 1993. As
// in Optax 0.2.8, each update is the step of the gradients before; the first is 0.
struct RpropOptions {
  double eta_minus = 0.5, eta_plus = 1.2, min_step_size = 1e-6, max_step_size = 50;
};
Optimizer ScaleByRprop(double learning_rate, const RpropOptions& options = {});
Optimizer ScaleByAdadelta(double rho = 0.9, double eps = 1e-6);
struct RadamOptions {
  double b1 = 0.9, b2 = 0.999, eps = 1e-8, eps_root = 0, threshold = 5;
  bool nesterov = false;
};
Optimizer ScaleByRadam(const RadamOptions& options = {});
struct NovogradOptions {
  double b1 = 0.9, b2 = 0.25, eps = 1e-6, eps_root = 0, weight_decay = 0;
};
Optimizer ScaleByNovograd(const NovogradOptions& options = {.eps = 1e-8});
struct YogiOptions {
  double b1 = 0.9, b2 = 0.999, eps = 1e-3, eps_root = 0, initial_accumulator_value = 1e-6;
};
Optimizer ScaleByYogi(const YogiOptions& options = {});
struct AdanOptions {
  double b1 = 0.98, b2 = 0.92, b3 = 0.99, eps = 1e-8, eps_root = 1e-8;
};
Optimizer ScaleByAdan(const AdanOptions& options = {.eps_root = 0});
// By a factor per index of each dimension. Anil et al., 2019.
Optimizer ScaleBySm3(double b1 = 0.9, double b2 = 1, double eps = 1e-8);
Optimizer ScaleByParamBlockNorm(double min_scale = 1e-3);  // Times the parameter's norm, or min_scale.
// Subtracts the mean over all dimensions but the first; vectors and scalars stay.
Optimizer Centralize();
Optimizer ZeroNans();
// An update that would make an element of the parameter negative makes it 0.
Optimizer KeepParamsNonnegative();
// Limits the norm of the gradient of each unit to `clipping` times that of its parameters, or of eps. A unit
// is what has one index in the last dimension, and a whole vector. Brock et al., 2021.
Optimizer AdaptiveGradClip(double clipping, double eps = 1e-3);
// Sums k gradients, and gives zeros meanwhile.
Optimizer ApplyEvery(int64_t k = 1, Caller caller = Caller::Here());
// Adds normal noise of the variance eta / step^gamma, from the key random::Key(seed).
Optimizer AddNoise(double eta, double gamma, uint64_t seed);

// By the smaller of (loss - f_min) / (|u|^2 + eps) and max_learning_rate, where u are all updates together;
// by 0 where |u|^2 + eps is at most 2.2e-16. Update() takes the loss: optimizer.Update(grads, state, params,
// {.value = loss}). Loizou et al., 2021.
struct PolyakOptions {
  double max_learning_rate = 1, f_min = 0, eps = 0;
  bool plus = false;  // True for 0 instead of a negative loss - f_min: Optax's variant "sps+".
};
Optimizer ScaleByPolyak(const PolyakOptions& options = {});

// Optimizers.
Optimizer Amsgrad(Rate rate, const AmsgradOptions& options = {});
Optimizer AdamaxW(Rate rate, double b1 = 0.9, double b2 = 0.999, double eps = 1e-8, Rate weight_decay = 1e-4,
                  const Mask& mask = {});
// Adam with Nesterov's momentum and decay.
Optimizer NadamW(Rate rate, double weight_decay = 1e-4, AdamOptions options = {}, const Mask& mask = {});
Optimizer Novograd(Rate rate, const NovogradOptions& options = {});
Optimizer Yogi(Rate rate, double b1 = 0.9, double b2 = 0.999, double eps = 1e-3);
Optimizer Sm3(double rate, double momentum = 0.9);
Optimizer SignSgd(Rate rate);
// The sign of the momentum. Bernstein et al., 2018.
Optimizer Signum(Rate rate, double beta = 0.9);
Optimizer Adan(Rate rate, const AdanOptions& options = {}, Rate weight_decay = 0.0, const Mask& mask = {});
Optimizer Fromage(double rate, double min_norm = 1e-6);
// Sgd(scaling), then ScaleByPolyak().
Optimizer PolyakSgd(const PolyakOptions& options = {}, Rate scaling = 1.0);
Optimizer NoisySgd(Rate rate, double eta = 0.01, double gamma = 0.55, uint64_t seed = 0);

// Schedules.
enum class Interpolation { kLinear, kCosine };
// Goes from init_value at 0 to its product with each boundary's scale, and those before, at that boundary.
Schedule PiecewiseInterpolateSchedule(Interpolation interpolation, double init_value,
                                      const std::map<int64_t, double>& boundaries_and_scales,
                                      Caller caller = Caller::Here());
Schedule LinearOnecycleSchedule(int64_t transition_steps, double peak_value, double pct_start = 0.3,
                                double pct_final = 0.85, double div_factor = 25,
                                double final_div_factor = 1e4, Caller caller = Caller::Here());
Schedule CosineOnecycleSchedule(int64_t transition_steps, double peak_value, double pct_start = 0.3,
                                double div_factor = 25, double final_div_factor = 1e4,
                                Caller caller = Caller::Here());
Schedule WarmupExponentialDecaySchedule(double init_value, double peak_value, int64_t warmup_steps,
                                        int64_t transition_steps, double decay_rate,
                                        const ExponentialDecayOptions& options = {},
                                        Caller caller = Caller::Here());
// Cosine decay with warm restarts (Loshchilov and Hutter, 2017): one WarmupCosineDecay() after another. A
// cycle takes decay_steps steps, of which the first warmup_steps lead from init_value to peak_value, and the
// others to end_value.
struct SgdrCycle {
  double init_value = 0, peak_value = 0;
  int64_t warmup_steps = 0, decay_steps = 0;
  double end_value = 0, exponent = 1;
};
Schedule SgdrSchedule(const std::vector<SgdrCycle>& cycles, Caller caller = Caller::Here());

// The norm of all leaves together. optax.global_norm.
Tensor GlobalNormOf(const std::vector<Tensor>& leaves);
template <typename T>
Tensor GlobalNorm(const T& tree, Caller caller = Caller::Here()) {
  const CallerScope scope(caller);
  return GlobalNormOf(Leaves(tree));
}
// old + step_size (new - old), for each leaf: a slow copy of parameters. optax.incremental_update.
std::vector<Tensor> IncrementallyUpdated(const std::vector<Tensor>& next, const std::vector<Tensor>& old,
                                         double step_size);
template <typename T>
T IncrementalUpdate(const T& next, const T& old, double step_size, Caller caller = Caller::Here()) {
  const CallerScope scope(caller);
  return WithLeaves(old, IncrementallyUpdated(Leaves(next), Leaves(old), step_size));
}

}  // namespace hlod::optim
