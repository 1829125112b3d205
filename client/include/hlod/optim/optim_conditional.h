// Optimizers that act in some steps only, and small functions for those who write transformations. Names and
// results are Optax's (hlod/optim/optim.h).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hlod/optim/optim.h"

namespace hlod::optim {

// A condition on the number of updates before (s32). Returns a scalar of pred.
using StepCondition = std::function<Tensor(const Tensor& step)>;

// Applies `inner` in steps for which the condition is true. In other steps the updates stay as they are, and
// so does the state of `inner`. Update() throws when the condition does not return a scalar of pred.
//   optim::ConditionallyTransform(optim::Adam(1e-3), [](const Tensor& step) { return Gt(step, 100); })
Optimizer ConditionallyTransform(const Optimizer& inner, StepCondition condition);
// Does the same, but the updates of other steps are 0.
Optimizer ConditionallyMask(const Optimizer& inner, StepCondition condition);
// Applies `inner` to gradients without infinities and NaNs. Others are ignored, that is, their updates are 0
// and the state of `inner` stays, unless more than `max_consecutive_errors` of them come one after another.
// The state's first list counts the last consecutive ones, tells whether the last gradients were finite, and
// counts all that were not.
Optimizer ApplyIfFinite(const Optimizer& inner, int64_t max_consecutive_errors,
                        Caller caller = Caller::Here());

// Returns a transformation without a state that maps all updates and parameters to the updates.
Optimizer Stateless(
    std::function<std::vector<Tensor>(const std::vector<Tensor>& updates, const std::vector<Tensor>& params)>
        f);
// Does the same with a function of one leaf.
Optimizer StatelessWithTreeMap(std::function<Tensor(const Tensor& update, const Tensor& param)> f);

// Returns count + 1, but at most the largest number of its type.
Tensor SafeIncrement(const Tensor& count, Caller caller = Caller::Here());
// Returns the 2-norm of all elements, but at least `min_norm`. Its gradient is 0 where that is the result,
// also at 0.
Tensor SafeNorm(const Operand& x, double min_norm);
// Does the same for the root of the mean square.
Tensor SafeRootMeanSquares(const Operand& x, double min_rms);

// Returns `next` when step is a multiple of `period`, else `old`, for each leaf.
std::vector<Tensor> PeriodicallyUpdated(const std::vector<Tensor>& next, const std::vector<Tensor>& old,
                                        const Operand& step, int64_t period);
template <typename T>
T PeriodicUpdate(const T& next, const T& old, const Operand& step, int64_t period) {
  const CallerScope scope(step.caller());
  return WithLeaves(old, PeriodicallyUpdated(Leaves(next), Leaves(old), step, period));
}

}  // namespace hlod::optim
