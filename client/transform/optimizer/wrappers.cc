// Optimizers that wrap another one. A wrapper's state is its own list, if it has one, then the state of the
// wrapped optimizer.
#include "hlod/optim/optim_wrappers.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/named_state.h"
#include "client/transform/optimizer/transformation.h"
#include "common/base/text/count.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::optim {
namespace {

State StateOf(absl::Span<const Tensors> parts) { return {{parts.begin(), parts.end()}}; }

using Chooser = std::function<std::vector<bool>(const Tensors& params)>;

class MaskedWrapper : public Transformation {
 public:
  MaskedWrapper(Optimizer inner, Chooser chooser) : inner_(std::move(inner)), chooser_(std::move(chooser)) {}

  size_t part_count() const override { return inner_.part_count(); }
  std::vector<Tensors> InitParts(const Tensors& params) const override {
    return inner_.InitLeaves(Chosen(params, chooser_(params))).parts;
  }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const override {
    const std::vector<bool> chosen = chooser_(params);
    Tensors inside = Chosen(updates, chosen);
    State next = inner_.UpdateLeaves(inside, StateOf(state), Chosen(params, chosen), extra);
    size_t at = 0;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (chosen[i]) updates[i] = inside[at++];
    }
    return std::move(next.parts);
  }

 private:
  static Tensors Chosen(const Tensors& all, const std::vector<bool>& chosen) {
    Tensors some;
    for (size_t i = 0; i < all.size(); ++i) {
      if (chosen[i]) some.push_back(all[i]);
    }
    return some;
  }

  const Optimizer inner_;
  const Chooser chooser_;
};

// State: the means or sums of the updates since the last step, their count, the count of steps, the tensors
// of the skip rule.
class MultiStepsWrapper : public Transformation {
 public:
  MultiStepsWrapper(Optimizer inner, Rate every_k, bool mean, SkipRule should_skip)
      : inner_(std::move(inner)),
        every_k_(std::move(every_k)),
        mean_(mean),
        should_skip_(std::move(should_skip)) {}

  size_t part_count() const override { return 1 + inner_.part_count(); }
  std::vector<Tensors> InitParts(const Tensors& params) const override {
    std::vector<Tensors> parts(1);
    for (const Tensor& param : params) parts[0].push_back(ZerosFor(param).To(SumType(param)));
    parts[0].push_back(ZeroCount(params));
    parts[0].push_back(ZeroCount(params));
    if (should_skip_) {
      Tensors zeros;
      for (const Tensor& param : params) zeros.push_back(ZerosFor(param));
      for (Tensor& kept : Verdict(zeros, parts[0].back(), params)) parts[0].push_back(std::move(kept));
    }
    for (Tensors& part : inner_.InitLeaves(params).parts) parts.push_back(std::move(part));
    return parts;
  }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const override {
    const size_t n = updates.size();
    const Tensor &mini = state[0][n], &step = state[0][n + 1], k = EveryK(step);
    Tensors own(state[0].begin(), state[0].begin() + static_cast<ptrdiff_t>(n + 2));
    Tensor skip, steps = Eq(mini, k - 1);
    if (should_skip_) {
      for (Tensor& kept : Verdict(updates, step, params)) own.push_back(std::move(kept));
      skip = own[n + 2];
      steps = LogicalAnd(steps, LogicalNot(skip));
    }
    const auto unless_skipped = [&](const Tensor& next, const Tensor& old) {
      return skip.defined() ? Where(skip, old, next).To(old.dtype()) : next;
    };
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      const Tensor given = updates[i].To(own[i].dtype());
      const Tensor sum = mean_ ? own[i] + (given - own[i]) / (mini + 1).To(own[i].dtype()) : own[i] + given;
      own[i] = unless_skipped(Where(steps, 0, sum).To(sum.dtype()), own[i]);
      updates[i] = sum.To(updates[i].dtype());
    }
    own[n] = unless_skipped(Remainder(Increment(mini), k), mini);
    own[n + 1] = Where(steps, Increment(step), step);
    const State before = StateOf(state.subspan(1));
    State next = inner_.UpdateLeaves(updates, before, params, extra);
    for (Tensor& update : updates) {
      if (update.defined()) update = Where(steps, update, 0).To(update.dtype());
    }
    std::vector<Tensors> parts = {std::move(own)};
    for (size_t i = 0; i < next.parts.size(); ++i) {
      parts.push_back(std::move(next.parts[i]));
      for (size_t j = 0; j < parts.back().size(); ++j) {
        const Tensor& old = before.parts[i][j];
        parts.back()[j] = Where(steps, parts.back()[j], old).To(old.dtype());
      }
    }
    return parts;
  }

 private:
  static PrimitiveType SumType(const Tensor& param) {
    return hlo::IsComplex(param.dtype()) ? param.dtype() : StepType(param.dtype());
  }
  Tensor EveryK(const Tensor& step) const {
    if (every_k_.schedule()) return every_k_.schedule()(step).To(kS32);
    return Full({}, static_cast<int64_t>(every_k_.value()), {.type = kS32, .device = step.device()});
  }

  // Returns what the rule returns: first of all a pred scalar.
  Tensors Verdict(const Tensors& updates, const Tensor& step, const Tensors& params) const {
    Tensors verdict = should_skip_(updates, step, params);
    RequireThat(
        !verdict.empty() && verdict[0].defined() && verdict[0].dtype() == kPred && verdict[0].rank() == 0,
        verdict.empty() || !verdict[0].defined()
            ? std::string("should_skip returns no tensor; the first is to be a scalar of pred")
            : absl::StrCat("should_skip returns ", hlo::ToStringNoLayout(verdict[0].shape()),
                           " first, which is to be a scalar of pred"),
        "multi_steps", Caller{});
    return verdict;
  }

  const Optimizer inner_;
  const Rate every_k_;
  const bool mean_;
  const SkipRule should_skip_;
};

using Maker = std::function<Optimizer(const std::map<std::string, Rate>&)>;

// State: the hyperparameters in the order of their names, the count.
class InjectedWrapper : public Transformation {
 public:
  InjectedWrapper(Maker make, std::map<std::string, Rate> hyperparams)
      : make_(std::move(make)), hyperparams_(std::move(hyperparams)), inner_count_(CountParts()) {}

  size_t part_count() const override { return 1 + inner_count_; }
  std::vector<Tensors> InitParts(const Tensors& params) const override {
    const PrimitiveType type = params.empty() ? kF32 : StepType(params[0].dtype());
    const Tensor count = ZeroCount(params);
    std::vector<Tensors> parts(1);
    for (const auto& [name, rate] : hyperparams_) {
      parts[0].push_back(rate.schedule() ? Scheduled(rate, count, type)
                                         : Full({}, rate.value(), {.type = type, .device = count.device()}));
    }
    const Optimizer inner = Made(parts[0]);
    parts[0].push_back(count);
    for (Tensors& part : inner.InitLeaves(params).parts) parts.push_back(std::move(part));
    return parts;
  }
  std::vector<Tensors> UpdateParts(Tensors& updates, absl::Span<const Tensors> state, const Tensors& params,
                                   const ExtraArgs& extra) const override {
    Tensors own = state[0];
    const Tensor count = own.back();
    size_t i = 0;
    for (const auto& [name, rate] : hyperparams_) {
      if (rate.schedule()) own[i] = Scheduled(rate, count, own[i].dtype());
      RequireThat(own[i].defined() && own[i].rank() == 0,
                  absl::StrCat("the hyperparameter \"", name, "\" is ",
                               own[i].defined() ? hlo::ToStringNoLayout(own[i].shape()) : "undefined",
                               ", and must be a scalar"),
                  "inject_hyperparams", Caller{});
      ++i;
    }
    const Tensors given = updates;
    const State before = StateOf(state.subspan(1));
    State next = Made(own).UpdateLeaves(updates, before, params, extra);
    own.back() = Increment(count);
    // A scalar parameter of a shorter type than the number's would leave in that type.
    KeepTypes(given, updates);
    std::vector<Tensors> parts = {std::move(own)};
    for (size_t i = 0; i < next.parts.size(); ++i) {
      KeepTypes(before.parts[i], next.parts[i]);
      parts.push_back(std::move(next.parts[i]));
    }
    return parts;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, rate] : hyperparams_) names.push_back(name);
    return names;
  }

 private:
  static void KeepTypes(const Tensors& before, Tensors& after) {
    for (size_t i = 0; i < after.size(); ++i) {
      if (before[i].defined() && after[i].defined()) after[i] = after[i].To(before[i].dtype());
    }
  }
  static Tensor Scheduled(const Rate& rate, const Tensor& count, PrimitiveType type) {
    return rate.schedule()(count.To(type == kF64 ? kS64 : kS32)).To(type);
  }
  Optimizer Made(const Tensors& values) const {
    std::map<std::string, Rate> rates;
    size_t i = 0;
    for (const auto& [name, rate] : hyperparams_) {
      rates.emplace(name, Rate(Number(values[i])));
      ++i;
    }
    return make_(rates);
  }
  size_t CountParts() const { return Made(Tensors(hyperparams_.size())).part_count(); }

  const Maker make_;
  const std::map<std::string, Rate> hyperparams_;
  const size_t inner_count_;
};

}  // namespace

void CheckListLength(size_t list, size_t leaves) {
  RequireThat(list == leaves,
              absl::StrCat("a list for each of the leaves of the parameters has ",
                           CountText(static_cast<int64_t>(list), "value"), " for ",
                           CountText(static_cast<int64_t>(leaves), "leaf", "leaves")),
              "optimizer", Caller{});
}

Optimizer Masked(const Optimizer& inner, const Mask& mask) {
  if (mask.everything()) return inner;
  return Make<MaskedWrapper>(inner, [mask](const Tensors& params) { return mask.Of(params); });
}

Optimizer MultiTransform(const std::map<std::string, Optimizer>& optimizers,
                         const OfLeaves<std::string>& labels) {
  std::set<std::string> names;
  for (const auto& [name, optimizer] : optimizers) names.insert(name);
  std::vector<Optimizer> parts;
  for (const auto& [name, optimizer] : optimizers) {
    parts.push_back(Make<MaskedWrapper>(optimizer, [=, label = name](const Tensors& params) {
      const std::vector<std::string> of = labels.Of(params);
      std::vector<bool> chosen;
      for (size_t i = 0; i < of.size(); ++i) {
        RequireThat(names.contains(of[i]),
                    absl::StrCat("leaf ", i, " is labelled \"", of[i], "\", and there are optimizers for ",
                                 absl::StrJoin(names, ", ")),
                    "multi_transform", Caller{});
        chosen.push_back(of[i] == label);
      }
      return chosen;
    }));
  }
  return Chain(parts);
}
Optimizer Partition(const std::map<std::string, Optimizer>& optimizers, const OfLeaves<std::string>& labels) {
  return MultiTransform(optimizers, labels);
}
Optimizer SetToZero() {
  return Elementwise([](const Tensor& update, const Tensor&) { return ZerosLike(update); });
}

Tensors SkipNotFinite(const Tensors& updates, const Tensor& step, const Tensors&) {
  Tensor count = Zeros({}, {.type = kS32, .device = step.device()});
  for (const Tensor& update : updates) {
    if (update.defined()) count = count + Sum(LogicalNot(Isfinite(update))).To(kS32);
  }
  return {Gt(count, 0), count};
}

SkipRule SkipLargeUpdates(const Number& max_squared_norm) {
  return [=](const Tensors& updates, const Tensor& step, const Tensors&) -> Tensors {
    Tensor sum = Zeros({}, {.type = kF32, .device = step.device()});
    for (const Tensor& update : updates) {
      if (update.defined()) sum = sum + Sum(SquaredModulus(update));
    }
    return {LogicalNot(Lt(sum, max_squared_norm)), sum};  // True also where the sum is NaN.
  };
}

Optimizer MultiSteps(const Optimizer& inner, Rate every_k, bool use_grad_mean, SkipRule should_skip,
                     Caller caller) {
  if (!every_k.schedule()) RequireWithin(Limit::kPositive, "every_k", every_k.value(), "multi_steps", caller);
  return Make<MultiStepsWrapper>(inner, std::move(every_k), use_grad_mean, std::move(should_skip));
}

Optimizer InjectHyperparams(Maker make, const std::map<std::string, Rate>& hyperparams) {
  return Make<InjectedWrapper>(std::move(make), hyperparams);
}

Tensor& Hyperparam(const Optimizer& optimizer, State& state, const std::string& name, Caller caller) {
  return NamedTensor<InjectedWrapper>(optimizer, state, name, "hyperparameter", "hyperparam", caller);
}

}  // namespace hlod::optim
