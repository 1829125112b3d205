// Schedules: functions of the number of steps, computed on the device of that number.
#include <algorithm>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/optim/optim.h"

namespace hlod::optim {
namespace {

// Returns the type in which a schedule computes its value for a count.
PrimitiveType TypeAt(const Tensor& count) { return count.dtype() == kS64 ? kF64 : kF32; }

Tensor ConstantAt(const Tensor& count, double value) {
  return Full({}, value, {.type = TypeAt(count), .device = count.device()});
}

}  // namespace

Schedule ConstantSchedule(double value) {
  return [=](const Tensor& count) { return ConstantAt(count, value); };
}

Schedule ExponentialDecay(double init_value, int64_t transition_steps, double decay_rate,
                          const ExponentialDecayOptions& options) {
  if (transition_steps <= 0 || decay_rate == 0) return ConstantSchedule(init_value);
  return [=](const Tensor& count) {
    const Tensor passed = (count - options.transition_begin).To(TypeAt(count));
    Tensor turns = passed / static_cast<double>(transition_steps);
    if (options.staircase) turns = Floor(turns);
    const Tensor decayed =
        Where(Le(passed, 0), ConstantAt(count, init_value), Pow(decay_rate, turns) * init_value);
    if (!options.end_value) return decayed;
    return decay_rate < 1 ? Maximum(decayed, *options.end_value) : Minimum(decayed, *options.end_value);
  };
}

Schedule CosineDecay(double init_value, int64_t decay_steps, double alpha, double exponent, Caller caller) {
  if (decay_steps <= 0) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("decay_steps (", decay_steps, ") of a cosine decay must be positive"),
                "cosine_decay", caller);
  }
  return [=](const Tensor& count) {
    const Tensor passed = Minimum(count.To(TypeAt(count)), static_cast<double>(decay_steps));
    const Tensor cosine = (Cos(passed * (std::numbers::pi / static_cast<double>(decay_steps))) + 1) * 0.5;
    return (Pow(cosine, exponent) * (1 - alpha) + alpha) * init_value;
  };
}

Schedule PolynomialSchedule(double init_value, double end_value, double power, int64_t transition_steps,
                            int64_t transition_begin) {
  if (transition_steps <= 0) return ConstantSchedule(init_value);
  const int64_t begin = std::max<int64_t>(transition_begin, 0);
  return [=](const Tensor& count) {
    const auto steps = static_cast<double>(transition_steps);
    const Tensor passed = Clamp((count - begin).To(TypeAt(count)), Operand(0.0), Operand(steps));
    return Pow(1 - passed / steps, power) * (init_value - end_value) + end_value;
  };
}

Schedule LinearSchedule(double init_value, double end_value, int64_t transition_steps,
                        int64_t transition_begin) {
  return PolynomialSchedule(init_value, end_value, 1, transition_steps, transition_begin);
}

Schedule WarmupCosineDecay(double init_value, double peak_value, int64_t warmup_steps, int64_t decay_steps,
                           double end_value, double exponent, Caller caller) {
  const double alpha = peak_value == 0 ? 0 : end_value / peak_value;
  return JoinSchedules({LinearSchedule(init_value, peak_value, warmup_steps),
                        CosineDecay(peak_value, decay_steps - warmup_steps, alpha, exponent, caller)},
                       {warmup_steps}, caller);
}

Schedule PiecewiseConstant(double init_value, const std::map<int64_t, double>& boundaries_and_scales) {
  return [=](const Tensor& count) {
    Tensor value = ConstantAt(count, init_value);
    for (const auto& [boundary, scale] : boundaries_and_scales) {
      value = Where(Lt(count, boundary), value, value * scale);
    }
    return value;
  };
}

Schedule JoinSchedules(const std::vector<Schedule>& schedules, const std::vector<int64_t>& boundaries,
                       Caller caller) {
  if (schedules.size() != boundaries.size() + 1) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat(schedules.size(), " schedules are joined at one boundary less, not at ",
                             boundaries.size()),
                "join_schedules", caller);
  }
  return [=](const Tensor& count) {
    Tensor value = schedules[0](count);
    for (size_t i = 0; i < boundaries.size(); ++i) {
      value = Where(Lt(count, boundaries[i]), value, schedules[i + 1](count - boundaries[i]));
    }
    return value;
  };
}

}  // namespace hlod::optim
