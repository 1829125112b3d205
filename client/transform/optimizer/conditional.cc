// Wrappers that run the wrapped optimizer in every step, and take its updates and state where a condition is
// true.
#include "hlod/optim/optim_conditional.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::optim {
namespace {

// The updates of a step in which `inner` is not applied.
enum class Otherwise { kUnchanged, kZero };

// A wrapper's own list, then the state of `inner`.
class ConditionalWrapper : public Transformation {
 public:
  ConditionalWrapper(Optimizer inner, Otherwise otherwise)
      : inner_(std::move(inner)), otherwise_(otherwise) {}

  size_t part_count() const override { return 1 + inner_.part_count(); }
  std::vector<Tensors> InitParts(const Tensors& params) const override {
    std::vector<Tensors> parts = {InitOwn(params)};
    for (Tensors& part : inner_.InitLeaves(params).parts) parts.push_back(std::move(part));
    return parts;
  }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const override {
    std::vector<Tensors> parts = {state[0]};
    const Tensor applies = Next(parts[0], updates);
    const Tensors given = updates;
    const State before{{state.begin() + 1, state.end()}};
    State next = inner_.UpdateLeaves(updates, before, params, extra);
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      const Operand other = otherwise_ == Otherwise::kZero ? Operand(0) : Operand(given[i]);
      updates[i] = Where(applies, updates[i], other).To(given[i].dtype());
    }
    for (size_t i = 0; i < next.parts.size(); ++i) {
      for (size_t j = 0; j < next.parts[i].size(); ++j) {
        const Tensor& old = before.parts[i][j];
        next.parts[i][j] = Where(applies, next.parts[i][j], old).To(old.dtype());
      }
      parts.push_back(std::move(next.parts[i]));
    }
    return parts;
  }

 protected:
  virtual Tensors InitOwn(const Tensors& params) const = 0;
  // Replaces the wrapper's own list by the next one. Returns a pred: true to apply `inner`.
  virtual Tensor Next(Tensors& own, const Tensors& updates) const = 0;

 private:
  const Optimizer inner_;
  const Otherwise otherwise_;
};

// State: the count of updates.
class StepConditionWrapper final : public ConditionalWrapper {
 public:
  StepConditionWrapper(Optimizer inner, Otherwise otherwise, StepCondition condition)
      : ConditionalWrapper(std::move(inner), otherwise), condition_(std::move(condition)) {}

 protected:
  Tensors InitOwn(const Tensors& params) const override { return {ZeroCount(params)}; }
  Tensor Next(Tensors& own, const Tensors&) const override {
    const Tensor applies = condition_(own[0]);
    RequireThat(applies.defined() && applies.dtype() == kPred && applies.rank() == 0,
                absl::StrCat("the condition returns ",
                             applies.defined() ? hlo::ToStringNoLayout(applies.shape()) : "no tensor",
                             ", which must be a scalar of pred"),
                "conditionally_transform", Caller{});
    own[0] = Increment(own[0]);
    return applies;
  }

 private:
  const StepCondition condition_;
};

// State: the number of the last consecutive gradients that are not finite, a pred for the last gradients, the
// number of all that are not finite.
class FiniteWrapper final : public ConditionalWrapper {
 public:
  FiniteWrapper(Optimizer inner, int64_t most)
      : ConditionalWrapper(std::move(inner), Otherwise::kZero), most_(most) {}

 protected:
  Tensors InitOwn(const Tensors& params) const override {
    const Tensor zero = ZeroCount(params);
    return {zero, Eq(zero, 0), zero};
  }
  Tensor Next(Tensors& own, const Tensors& updates) const override {
    Tensor faults = Zeros({}, {.type = kS32, .device = own[0].device()});
    for (const Tensor& update : updates) {
      if (update.defined()) faults = faults + Sum(LogicalNot(Isfinite(update))).To(kS32);
    }
    const Tensor finite = Eq(faults, 0);
    own = {Where(finite, 0, Increment(own[0])).To(kS32), finite,
           Where(finite, own[2], Increment(own[2])).To(kS32)};
    return LogicalOr(finite, Gt(own[0], most_));
  }

 private:
  const int64_t most_;
};

// State: none.
class StatelessLink final : public Link {
 public:
  using Function = std::function<Tensors(const Tensors&, const Tensors&)>;
  explicit StatelessLink(Function f) : f_(std::move(f)) {}
  Tensors Init(const Tensors&) const override { return {}; }
  Tensors Update(Tensors& updates, const Tensors&, const Tensors& params) const override {
    Tensors next = f_(updates, params);
    RequireThat(next.size() == updates.size(),
                absl::StrCat("the function returns ", next.size(), " updates for ", updates.size()),
                "stateless", Caller{});
    updates = std::move(next);
    return {};
  }

 private:
  const Function f_;
};

// Returns root(x), but `least` where that is not larger, with the gradient 0 there.
template <typename F>
Tensor AtLeast(const Operand& x, double least, F root) {
  const CallerScope scope(x.caller());
  const Tensor value = Mul(x, 1);
  const Tensor small = Le(root(value), least);
  // The root of 0 has an infinite slope, and 0 times that is NaN: the root is taken of ones there.
  return Where(small, least, root(Where(small, 1, value).To(value.dtype()))).To(value.dtype());
}

}  // namespace

Optimizer ConditionallyTransform(const Optimizer& inner, StepCondition condition) {
  return Make<StepConditionWrapper>(inner, Otherwise::kUnchanged, std::move(condition));
}
Optimizer ConditionallyMask(const Optimizer& inner, StepCondition condition) {
  return Make<StepConditionWrapper>(inner, Otherwise::kZero, std::move(condition));
}
Optimizer ApplyIfFinite(const Optimizer& inner, int64_t max_consecutive_errors, Caller caller) {
  RequireThat(max_consecutive_errors >= 0,
              absl::StrCat("max_consecutive_errors (", max_consecutive_errors, ") is negative"),
              "apply_if_finite", caller);
  return Make<FiniteWrapper>(inner, max_consecutive_errors);
}

Optimizer Stateless(std::function<Tensors(const Tensors& updates, const Tensors& params)> f) {
  return Make<StatelessLink>(std::move(f));
}
Optimizer StatelessWithTreeMap(std::function<Tensor(const Tensor& update, const Tensor& param)> f) {
  return Elementwise(std::move(f));
}

Tensor SafeIncrement(const Tensor& count, Caller caller) {
  const CallerScope scope(caller);
  const bool is_wide = count.dtype() == kS64;
  RequireThat(
      is_wide || count.dtype() == kS32,
      absl::StrCat("the count is ", hlo::ToStringNoLayout(count.shape()), ", which is not s32 or s64"),
      "safe_increment", caller);
  const int64_t most = is_wide ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int32_t>::max();
  return Where(Lt(count, most), count + 1, most).To(count.dtype());
}

Tensor SafeNorm(const Operand& x, double min_norm) {
  return AtLeast(x, min_norm, [](const Tensor& y) { return Sqrt(Sum(SquaredModulus(y))); });
}
Tensor SafeRootMeanSquares(const Operand& x, double min_rms) {
  return AtLeast(x, min_rms, [](const Tensor& y) { return Sqrt(Mean(SquaredModulus(y))); });
}

std::vector<Tensor> PeriodicallyUpdated(const std::vector<Tensor>& next, const std::vector<Tensor>& old,
                                        const Operand& step, int64_t period) {
  RequireThat(period > 0, absl::StrCat("the period (", period, ") is not positive"), "periodic_update",
              step.caller());
  RequireThat(next.size() == old.size(),
              absl::StrCat("the trees have ", next.size(), " and ", old.size(), " leaves"), "periodic_update",
              step.caller());
  std::vector<Tensor> chosen;
  const Tensor now = Eq(Remainder(step, period), 0);
  for (size_t i = 0; i < old.size(); ++i) chosen.push_back(Where(now, next[i], old[i]).To(old[i].dtype()));
  return chosen;
}

}  // namespace hlod::optim
