// Chains of gradient transformations, and transformations without state or with only a count of steps.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "client/tensor/mesh/shard_as.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/value/throw.h"
#include "client/transform/optimizer/transformation.h"
#include "common/base/text/count.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/optim/optim_wrappers.h"

namespace hlod::optim {
namespace {

class ElementwiseLink : public Link {
 public:
  explicit ElementwiseLink(std::function<Tensor(const Tensor&, const Tensor&)> f) : f_(std::move(f)) {}
  Tensors Init(const Tensors&) const override { return {}; }
  Tensors Update(Tensors& updates, const Tensors&, const Tensors& params) const override {
    for (size_t i = 0; i < updates.size(); ++i) {
      if (updates[i].defined()) updates[i] = f_(updates[i], params[i]);
    }
    return {};
  }

 private:
  const std::function<Tensor(const Tensor&, const Tensor&)> f_;
};

// Computes the schedule's value for the count of steps, and applies it to each update. For f64 updates the
// value is f64: the schedule recognizes this by the count, which is then s64.
class Scheduled : public Link {
 public:
  explicit Scheduled(Schedule schedule) : schedule_(std::move(schedule)) {}
  Tensors Init(const Tensors& params) const override { return {ZeroCount(params)}; }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const override {
    std::map<PrimitiveType, Tensor> values;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      const PrimitiveType type = StepType(updates[i].dtype());
      Tensor& value = values[type];
      if (!value.defined()) value = schedule_(state[0].To(type == kF64 ? kS64 : kS32));
      updates[i] = With(value, updates[i], params[i]);
    }
    return {Increment(state[0])};
  }

 private:
  virtual Tensor With(const Tensor& value, const Tensor& update, const Tensor& param) const = 0;

  const Schedule schedule_;
};

class ScheduledScale : public Scheduled {
 public:
  ScheduledScale(Schedule schedule, double sign) : Scheduled(std::move(schedule)), sign_(sign) {}

 private:
  Tensor With(const Tensor& value, const Tensor& update, const Tensor&) const override {
    return update * (value * sign_).To(update.dtype());
  }
  const double sign_;
};

class ScheduledDecay : public Scheduled {
 public:
  using Scheduled::Scheduled;

 private:
  Tensor With(const Tensor& value, const Tensor& update, const Tensor& param) const override {
    return update + param * value.To(param.dtype());
  }
};

class GlobalNormClip : public Link {
 public:
  explicit GlobalNormClip(Number max_norm) : max_norm_(std::move(max_norm)) {}
  Tensors Init(const Tensors&) const override { return {}; }
  Tensors Update(Tensors& updates, const Tensors&, const Tensors&) const override {
    const Tensor squares = SumOfSquares(updates);
    if (!squares.defined()) return {};
    const Tensor norm = Sqrt(squares), small = Lt(norm, max_norm_);
    for (Tensor& update : updates) {
      if (!update.defined()) continue;
      update = Where(small, update, update / norm.To(update.dtype()) * max_norm_);
    }
    return {};
  }

 private:
  const Number max_norm_;
};

Tensor RootMeanSquare(const Tensor& x) { return Sqrt(Mean(SquaredModulus(x))); }

}  // namespace

namespace {

// Names the tensors of a state as the optimizer's, and shards each like its parameter. A part has tensors of
// the parameters in their order; others, such as counts, are among them, and have other dimensions.
void LieAs(const Tensors& params, Tensors& part) {
  size_t next = 0;
  for (Tensor& state : part) {
    if (!state.defined()) continue;
    lazy::SetRole(state, lazy::Role::kOptimizer);
    for (size_t i = 0; i < params.size(); ++i) {
      const size_t at = (next + i) % params.size();
      if (!params[at].defined() || params[at].dims() != state.dims()) continue;
      lazy::ShardAs(state, params[at], Caller{});
      next = at + 1;
      break;
    }
  }
}

}  // namespace

size_t Optimizer::part_count() const {
  size_t count = 0;
  for (const auto& link : chain_) count += link->part_count();
  return count;
}

State Optimizer::InitLeaves(const Tensors& params) const {
  State state;
  for (const Tensor& param : params) lazy::SetRole(param, lazy::Role::kWeight);
  for (const auto& link : chain_) {
    for (Tensors& part : link->InitParts(params)) state.parts.push_back(std::move(part));
  }
  for (Tensors& part : state.parts) LieAs(params, part);
  return state;
}

void Optimizer::PlaceLeaves(const Tensors& params, const State& state) {
  for (const Tensors& part : state.parts) {
    Tensors tensors = part;  // Other handles of the same tensors.
    LieAs(params, tensors);
  }
}

namespace {

// The defined leaves of `params`, their updates, and their indices among all leaves.
struct Defined {
  Tensors params, updates;
  std::vector<size_t> places;
};
Defined DefinedOf(const Tensors& params, const Tensors& updates) {
  Defined defined;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!params[i].defined() && updates[i].defined()) {
      lazy::Throw(ErrorKind::kArgument, absl::StrCat("parameter ", i, " is undefined and has a gradient"),
                  "update", Caller{});
    }
    if (!params[i].defined()) continue;
    defined.params.push_back(params[i]);
    defined.updates.push_back(updates[i]);
    defined.places.push_back(i);
  }
  return defined;
}

}  // namespace

State Optimizer::UpdateLeaves(Tensors& updates, const State& state, const Tensors& params,
                              const ExtraArgs& extra) const {
  if (updates.size() != params.size() || state.parts.size() != part_count()) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("an optimizer of ", part_count(), " parts takes a state of as many, not ",
                             state.parts.size(), ", and a gradient for each of ", params.size(),
                             " parameters, not ", updates.size()),
                "update", Caller{});
  }
  PlaceLeaves(params, state);
  for (const Tensor& update : updates) lazy::SetRole(update, lazy::Role::kGradient);
  Defined defined = DefinedOf(params, updates);
  State next;
  absl::Span<const Tensors> rest = state.parts;
  for (const auto& link : chain_) {
    const size_t count = link->part_count();
    for (Tensors& part : link->UpdateParts(defined.updates, rest.first(count), defined.params, extra)) {
      next.parts.push_back(std::move(part));
    }
    rest.remove_prefix(count);
  }
  for (Tensors& part : next.parts) LieAs(params, part);
  for (size_t i = 0; i < defined.places.size(); ++i) {
    updates[defined.places[i]] = std::move(defined.updates[i]);
  }
  return next;
}

std::vector<Tensor> ApplyLeaves(const Tensors& params, const Tensors& updates) {
  if (updates.size() != params.size()) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("a list has ", CountText(static_cast<int64_t>(updates.size()), "update"),
                             " for ", CountText(static_cast<int64_t>(params.size()), "parameter")),
                "apply_updates", Caller{});
  }
  Tensors results;
  for (size_t i = 0; i < params.size(); ++i) {
    results.push_back(updates[i].defined() ? (params[i] + updates[i]).To(params[i].dtype()) : params[i]);
  }
  return results;
}

namespace {

constexpr char kTensorOnly[] =
    "the setting is a tensor, as InjectHyperparams() hands it out, and has no value yet: it can stand only "
    "where a Number or a Rate is taken";

}  // namespace

double Number::value(Caller caller) const {
  if (is_tensor_) lazy::Throw(ErrorKind::kArgument, kTensorOnly, "optimizer", caller);
  return value_;
}
double Rate::value(Caller caller) const {
  if (schedule_) {
    lazy::Throw(ErrorKind::kArgument,
                tensor_.has_value() ? kTensorOnly : "a schedule has a value per step, not one value",
                "optimizer", caller);
  }
  return value_;
}

Number::Number(const Rate& rate) : value_(rate.value_), is_tensor_(rate.tensor_.has_value()) {
  if (is_tensor_) tensor_ = *rate.tensor_;
  else if (rate.schedule()) {
    lazy::Throw(ErrorKind::kArgument,
                "a schedule stands in for a learning rate, a decay of weights or a number of steps only; "
                "InjectHyperparams() takes one for any other setting",
                "optimizer", Caller{});
  }
}
Rate::Rate(const Number& number) {
  if (!number.is_tensor()) {
    value_ = number.value();
    return;
  }
  tensor_ = number.tensor();
  schedule_ = [scalar = number.tensor()](const Tensor&) { return scalar; };
}

Optimizer Chain(const std::vector<Optimizer>& optimizers) {
  std::vector<std::shared_ptr<const Transformation>> chain;
  for (const Optimizer& optimizer : optimizers) {
    chain.insert(chain.end(), optimizer.chain().begin(), optimizer.chain().end());
  }
  return Optimizer(std::move(chain));
}

Optimizer Elementwise(std::function<Tensor(const Tensor&, const Tensor&)> f) {
  return Make<ElementwiseLink>(std::move(f));
}

Optimizer Identity() { return Optimizer({}); }
Optimizer Scale(const Number& factor) {
  return Elementwise([=](const Tensor& update, const Tensor&) { return update * factor; });
}
Optimizer ScaleBySchedule(Schedule schedule) { return Make<ScheduledScale>(std::move(schedule), 1.0); }
Optimizer ScaleByLearningRate(Rate rate) {
  if (rate.schedule()) return Make<ScheduledScale>(rate.schedule(), -1.0);
  return Scale(-rate.value());
}
Optimizer AddDecayedWeights(Rate weight_decay, const Mask& mask) {
  if (weight_decay.schedule()) return Masked(Make<ScheduledDecay>(weight_decay.schedule()), mask);
  return Masked(Elementwise([value = weight_decay.value()](const Tensor& update, const Tensor& param) {
                  return update + param * value;
                }),
                mask);
}
Optimizer Clip(const Number& max_delta) {
  return Elementwise([=](const Tensor& update, const Tensor&) {
    const Number least = Negative(max_delta);
    return Clamp(update, Operand(least), Operand(max_delta));
  });
}
Optimizer ClipByGlobalNorm(const Number& max_norm) { return Make<GlobalNormClip>(max_norm); }
Optimizer ClipByBlockRms(const Number& threshold) {
  return Elementwise([=](const Tensor& update, const Tensor&) {
    return update / Maximum(RootMeanSquare(update) / threshold, 1);
  });
}
Optimizer ScaleByParamBlockRms(const Number& min_scale) {
  return Elementwise([=](const Tensor& update, const Tensor& param) {
    return update * Maximum(RootMeanSquare(param), min_scale);
  });
}

Tensor ZerosFor(const Tensor& param, const Dims& dims) {
  if (param.is_placeholder()) return Placeholder(dims, param.dtype(), param.device());
  return Zeros(dims, {.type = param.dtype(), .device = param.device()});
}
Tensor ZerosFor(const Tensor& param) { return ZerosFor(param, param.dims()); }

Tensor ZeroCount(const Tensors& params) {
  if (params.empty()) return Zeros({}, {.type = kS32});
  return Zeros({}, {.type = kS32, .device = params[0].device()});
}

Tensor Increment(const Tensor& count) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  return Where(Lt(count, kMax), count + 1, count);
}

Tensor SquaredModulus(const Tensor& x) {
  return hlo::IsComplex(x.dtype()) ? Square(Real(x)) + Square(Imag(x)) : Square(x);
}
Tensor SumOfSquares(const std::vector<Tensor>& tensors) {
  Tensor squares;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) continue;
    const Tensor sum = Sum(SquaredModulus(tensor));
    squares = squares.defined() ? squares + sum : sum;
  }
  return squares;
}
Tensor ZeroModuliFor(const Tensor& param) {
  if (!hlo::IsComplex(param.dtype())) return ZerosFor(param);
  const PrimitiveType type = StepType(param.dtype());
  if (param.is_placeholder()) return Placeholder(param.dims(), type, param.device());
  return Zeros(param.dims(), {.type = type, .device = param.device()});
}
PrimitiveType StepType(PrimitiveType type) { return type == kF64 || type == kC128 ? kF64 : kF32; }

Number OneMinus(const Number& x) { return x.is_tensor() ? Number(1 - x.tensor()) : 1 - x.value(); }
Number Negative(const Number& x) { return x.is_tensor() ? Number(-x.tensor()) : -x.value(); }

Tensor MovingAverage(const Tensor& average, const Tensor& value, const Number& decay) {
  return value * OneMinus(decay) + average * decay;
}

Tensor BiasCorrected(const Tensor& average, const Number& decay, const Tensor& count) {
  const Tensor correction = 1 - Pow(decay, count.To(StepType(average.dtype())));
  return average / correction.To(average.dtype());
}
Tensor ExactlyBiasCorrected(const Tensor& average, double decay, const Tensor& count) {
  const Tensor correction = 1 - Pow(decay, count.To(kF64));
  return average / correction.To(average.dtype());
}

}  // namespace hlod::optim
