// Optimizers whose update depends on a layer as a whole: LARS and LAMB (You et al., 2017 and 2020), Muon
// (Jordan, 2024); and the elementwise AdaBelief (Zhuang et al., 2020).
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/limits.h"
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/optim/optim_wrappers.h"

namespace hlod::optim {
namespace {

Tensor NormOf(const Tensor& x) { return Sqrt(Sum(SquaredModulus(x))); }

// State: first moments, second moments of the difference between gradient and first moment, the count.
class BeliefLink : public Link {
 public:
  explicit BeliefLink(const BeliefOptions& options) : o_(options) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) state.push_back(ZerosFor(param));
    for (const Tensor& param : params) state.push_back(ZeroModuliFor(param));
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const size_t n = updates.size();
    const Tensor count = Increment(state.back());
    Tensors next = state;
    for (size_t i = 0; i < n; ++i) {
      if (!updates[i].defined()) continue;
      const Tensor gradient = updates[i];
      Tensor &first = next[i], &second = next[n + i];
      first = MovingAverage(state[i], gradient, o_.b1);
      second = MovingAverage(state[n + i], SquaredModulus(gradient - first), o_.b2) + o_.eps_root;
      const Tensor mean = o_.nesterov ? MovingAverage(BiasCorrected(first, o_.b1, Increment(count)),
                                                      BiasCorrected(gradient, o_.b1, count), o_.b1)
                                      : BiasCorrected(first, o_.b1, count);
      updates[i] = mean / (Sqrt(BiasCorrected(second, o_.b2, count)) + o_.eps);
    }
    next.back() = count;
    return next;
  }

 private:
  const BeliefOptions o_;
};

// Approximates the nearest matrix with orthonormal rows (or columns, if there are fewer) by Newton and
// Schulz's iteration.
Tensor Orthogonalized(const Tensor& matrix, const MuonOptions& o) {
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = tall ? matrix.T() : matrix;
  x = x / (NormOf(x) + o.eps);
  const auto steps = static_cast<size_t>(o.ns_steps), given = o.ns_coeffs.size();
  for (size_t i = 0; i < (given == 1 ? steps : std::min(steps, given)); ++i) {
    // When there are more coefficients than steps, the last ones are used.
    const auto& [c0, c1, c2] = o.ns_coeffs[given == 1 ? 0 : given - std::min(steps, given) + i];
    const Tensor a = MatMul(x, x.MH());
    x = x * c0 + MatMul(a * c1 + MatMul(a * c2, a), x);
  }
  return tall ? x.T() : x;
}

void RequireMatrix(const Tensor& x, const char* operation) {
  RequireThat(
      x.rank() == 2,
      absl::StrCat("a parameter of rank ", x.rank(), " is not a matrix: leave it to another optimizer"),
      operation, Caller{});
}

// State: the momenta, the count.
class MuonLink : public Link {
 public:
  explicit MuonLink(const MuonOptions& options) : o_(options) {}
  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) {
      RequireMatrix(param, "scale_by_muon");
      state.push_back(ZerosFor(param));
    }
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const Tensor count = Increment(state.back());
    Tensors next = state;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      next[i] = MovingAverage(state[i], updates[i], o_.beta);
      const Tensor mean = o_.nesterov ? MovingAverage(BiasCorrected(next[i], o_.beta, Increment(count)),
                                                      BiasCorrected(updates[i], o_.beta, count), o_.beta)
                                      : BiasCorrected(next[i], o_.beta, count);
      updates[i] = Orthogonalized(mean, o_);
      if (o_.adaptive) updates[i] = updates[i] * Sum(Conj(mean) * updates[i]);
    }
    next.back() = count;
    return next;
  }

 private:
  const MuonOptions o_;
};

}  // namespace

Optimizer ScaleByBelief(const BeliefOptions& options) { return Make<BeliefLink>(options); }
Optimizer AdaBelief(Rate rate, const BeliefOptions& options) {
  return Chain({ScaleByBelief(options), ScaleByLearningRate(std::move(rate))});
}

Optimizer ScaleByTrustRatio(const Number& min_norm, const Number& trust_coefficient, const Number& eps) {
  return Elementwise([=](const Tensor& update, const Tensor& param) {
    const auto norm = [&](const Tensor& x) {
      const Tensor exact = NormOf(x);
      return Where(Le(exact, min_norm), min_norm, exact);
    };
    const Tensor of_param = norm(param), of_update = norm(update);
    const Tensor ratio = of_param * trust_coefficient / (of_update + eps);
    return update * Where(LogicalOr(Eq(of_param, 0), Eq(of_update, 0)), 1.0, ratio).To(update.dtype());
  });
}

Optimizer Lamb(Rate rate, const LambOptions& o) {
  return Chain({ScaleByAdam({.b1 = o.b1, .b2 = o.b2, .eps = o.eps, .eps_root = o.eps_root}),
                AddDecayedWeights(o.weight_decay, o.mask), ScaleByTrustRatio(),
                ScaleByLearningRate(std::move(rate))});
}

Optimizer Lars(Rate rate, const LarsOptions& o) {
  return Chain({AddDecayedWeights(o.weight_decay, o.weight_decay_mask),
                Masked(ScaleByTrustRatio(0, o.trust_coefficient, o.eps), o.trust_ratio_mask),
                ScaleByLearningRate(std::move(rate)), Trace(o.momentum, o.nesterov)});
}

Optimizer ScaleByMuon(const MuonOptions& options, Caller caller) {
  RequireThat(!options.ns_coeffs.empty(), "muon takes at least one list of coefficients", "scale_by_muon",
              caller);
  return Make<MuonLink>(options);
}

Optimizer ScaleByShape(const std::optional<Number>& consistent_rms) {
  return Elementwise([=](const Tensor& update, const Tensor&) {
    RequireMatrix(update, "scale_by_shape");
    const auto rows = static_cast<double>(update.size(0)), columns = static_cast<double>(update.size(1));
    if (consistent_rms) return update * std::sqrt(std::max(rows, columns)) * *consistent_rms;
    return update * std::sqrt(std::max(1.0, columns / rows));
  });
}

Optimizer Muon(Rate rate, const MuonOptions& o, Caller caller) {
  const AdamOptions adam = {
      .b1 = o.adam_b1, .b2 = o.adam_b2, .eps = o.eps, .eps_root = o.adam_eps_root, .nesterov = o.nesterov};
  return MultiTransform(
      {{"adam", AdamW(o.adam_rate.value_or(rate), o.adam_weight_decay, adam)},
       {"muon", Chain({ScaleByMuon(o, caller), ScaleByShape(o.consistent_rms),
                       AddDecayedWeights(o.weight_decay, o.weight_decay_mask), ScaleByLearningRate(rate)})}},
      [](const Tensor& param) { return std::string(param.rank() == 2 ? "muon" : "adam"); });
}

}  // namespace hlod::optim
