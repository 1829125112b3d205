// Schedules that interpolate between values, or follow one another.
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/optim/optim_scaling.h"

namespace hlod::optim {

Schedule PiecewiseInterpolateSchedule(Interpolation interpolation, double init_value,
                                      const std::map<int64_t, double>& boundaries_and_scales, Caller caller) {
  for (const auto& [boundary, scale] : boundaries_and_scales) {
    RequireThat(scale >= 0, absl::StrCat("the scale (", scale, ") at ", boundary, " is negative"),
                "piecewise_interpolate_schedule", caller);
  }
  return [=](const Tensor& count) {
    const PrimitiveType type = count.dtype() == kS64 ? kF64 : kF32;
    const Tensor at = count.To(type);
    double value = init_value;
    int64_t from = 0;
    Tensor result;
    for (const auto& [boundary, scale] : boundaries_and_scales) {
      const double next = value * scale;
      const auto length = static_cast<double>(std::max<int64_t>(boundary - from, 1));
      const Tensor part = (at - static_cast<double>(from)) / length;
      const Tensor piece = interpolation == Interpolation::kLinear
                               ? part * (next - value) + value
                               : (Cos(part * std::numbers::pi) + 1) * ((value - next) / 2) + next;
      result = result.defined() ? Where(Lt(count, from), result, piece) : piece;
      value = next;
      from = boundary;
    }
    const Tensor last = Full({}, value, {.type = type, .device = count.device()});
    return result.defined() ? Where(Lt(count, from), result, last) : last;
  };
}

namespace {

void RequireSteps(int64_t steps, const char* what, const Caller& caller) {
  RequireThat(steps > 0, absl::StrCat("transition_steps (", steps, ") is not positive"), what, caller);
}
int64_t Part(double part, int64_t steps) { return static_cast<int64_t>(part * static_cast<double>(steps)); }

// Keeps the last of the boundaries at one step: a phase without steps leaves no trace.
std::map<int64_t, double> LastOfEach(const std::vector<std::pair<int64_t, double>>& boundaries_and_scales) {
  std::map<int64_t, double> last;
  for (const auto& [boundary, scale] : boundaries_and_scales) last[boundary] = scale;
  return last;
}

}  // namespace

Schedule LinearOnecycleSchedule(int64_t transition_steps, double peak_value, double pct_start,
                                double pct_final, double div_factor, double final_div_factor, Caller caller) {
  RequireSteps(transition_steps, "linear_onecycle_schedule", caller);
  RequireWithin(Limit::kUpToOne, "pct_start", pct_start, "linear_onecycle_schedule", caller);
  RequireWithin(Limit::kUpToOne, "pct_final", pct_final, "linear_onecycle_schedule", caller);
  return PiecewiseInterpolateSchedule(Interpolation::kLinear, peak_value / div_factor,
                                      LastOfEach({{Part(pct_start, transition_steps), div_factor},
                                                  {Part(pct_final, transition_steps), 1 / div_factor},
                                                  {transition_steps, 1 / final_div_factor}}),
                                      caller);
}

Schedule CosineOnecycleSchedule(int64_t transition_steps, double peak_value, double pct_start,
                                double div_factor, double final_div_factor, Caller caller) {
  RequireSteps(transition_steps, "cosine_onecycle_schedule", caller);
  RequireWithin(Limit::kUpToOne, "pct_start", pct_start, "cosine_onecycle_schedule", caller);
  return PiecewiseInterpolateSchedule(Interpolation::kCosine, peak_value / div_factor,
                                      LastOfEach({{Part(pct_start, transition_steps), div_factor},
                                                  {transition_steps, 1 / (div_factor * final_div_factor)}}),
                                      caller);
}

Schedule WarmupExponentialDecaySchedule(double init_value, double peak_value, int64_t warmup_steps,
                                        int64_t transition_steps, double decay_rate,
                                        const ExponentialDecayOptions& options, Caller caller) {
  return JoinSchedules({LinearSchedule(init_value, peak_value, warmup_steps),
                        ExponentialDecay(peak_value, transition_steps, decay_rate, options)},
                       {warmup_steps}, caller);
}

Schedule SgdrSchedule(const std::vector<SgdrCycle>& cycles, Caller caller) {
  RequireThat(!cycles.empty(), "there is no cycle", "sgdr_schedule", caller);
  std::vector<Schedule> schedules;
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (const SgdrCycle& c : cycles) {
    schedules.push_back(WarmupCosineDecay(c.init_value, c.peak_value, c.warmup_steps, c.decay_steps,
                                          c.end_value, c.exponent, caller));
    ends.push_back(end += c.decay_steps);
  }
  ends.pop_back();
  return JoinSchedules(schedules, ends, caller);
}

}  // namespace hlod::optim
