// Optax's transformations without state, and the optimizers made of those that scale.
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
#include "hlod/optim/optim_scaling.h"

namespace hlod::optim {

Optimizer ScaleBySign() {
  return Elementwise([](const Tensor& update, const Tensor&) { return Sgn(update); });
}

Optimizer ScaleByParamBlockNorm(double min_scale) {
  return Elementwise([=](const Tensor& update, const Tensor& param) {
    return update * Maximum(Sqrt(Sum(SquaredModulus(param))), min_scale);
  });
}

Optimizer Centralize() {
  return Elementwise([](const Tensor& update, const Tensor&) {
    Dims others;
    for (int64_t dim = 1; dim < update.rank(); ++dim) others.push_back(dim);
    return others.empty() ? update : update - Mean(update, others, true);
  });
}

Optimizer ZeroNans() {
  return Elementwise(
      [](const Tensor& update, const Tensor&) { return Where(Isnan(update), ZerosLike(update), update); });
}

Optimizer KeepParamsNonnegative() {
  return Elementwise([](const Tensor& update, const Tensor& param) {
    return Where(Lt(param + update, 0), -param, update.To(param.dtype()));
  });
}

Optimizer AdaptiveGradClip(double clipping, double eps) {
  const auto norm = [](const Tensor& x) {
    int64_t long_dims = 0;
    for (const int64_t size : x.dims()) long_dims += size == 1 ? 0 : 1;
    Dims dims;  // All of a vector.
    if (long_dims > 1) {
      const int64_t summed = x.rank() == 3 ? 1 : x.rank() - 1;
      for (int64_t dim = 0; dim < summed; ++dim) dims.push_back(dim);
    }
    return x.rank() == 0 ? Abs(x) : Sqrt(Sum(SquaredModulus(x), dims, true));
  };
  return Elementwise([=](const Tensor& update, const Tensor& param) {
    const Tensor most = Maximum(norm(param), eps) * clipping, given = norm(update);
    return Where(Lt(given, most), update, update * (most / Maximum(given, 1e-6)));
  });
}

namespace {

// State: none.
class PolyakLink final : public Link {
 public:
  explicit PolyakLink(const PolyakOptions& options) : o_(options) {}
  Tensors Init(const Tensors&) const override { return {}; }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors& params) const override {
    return UpdateWith(updates, state, params, {});
  }
  Tensors UpdateWith(Tensors& updates, const Tensors&, const Tensors&,
                     const ExtraArgs& extra) const override {
    RequireThat(extra.value.defined() && extra.value.rank() == 0,
                "the step depends on the loss: give Update() a scalar, as in {.value = loss}",
                "scale_by_polyak", Caller{});
    const Tensor squares = SumOfSquares(updates);
    if (!squares.defined()) return {};
    Tensor gap = (extra.value - o_.f_min).To(squares.dtype());
    if (o_.plus) gap = ClampMin(gap, 0);
    const Tensor divisor = squares + o_.eps;
    const Tensor step = Where(Le(divisor, std::numeric_limits<double>::epsilon()), 0,
                              Minimum(gap / divisor, o_.max_learning_rate));
    for (Tensor& update : updates) {
      if (update.defined()) update = update * step.To(update.dtype());
    }
    return {};
  }

 private:
  const PolyakOptions o_;
};

}  // namespace

Optimizer ScaleByPolyak(const PolyakOptions& options) { return Make<PolyakLink>(options); }
Optimizer PolyakSgd(const PolyakOptions& options, Rate scaling) {
  return Chain({Sgd(std::move(scaling)), ScaleByPolyak(options)});
}

Optimizer Amsgrad(Rate rate, const AmsgradOptions& options) {
  return Chain({ScaleByAmsgrad(options), ScaleByLearningRate(std::move(rate))});
}
Optimizer AdamaxW(Rate rate, double b1, double b2, double eps, Rate weight_decay, const Mask& mask) {
  return Chain({ScaleByAdamax(b1, b2, eps), AddDecayedWeights(std::move(weight_decay), mask),
                ScaleByLearningRate(std::move(rate))});
}
Optimizer NadamW(Rate rate, double weight_decay, AdamOptions options, const Mask& mask) {
  options.nesterov = true;
  return AdamW(std::move(rate), weight_decay, options, mask);
}
Optimizer Novograd(Rate rate, const NovogradOptions& options) {
  return Chain({ScaleByNovograd(options), ScaleByLearningRate(std::move(rate))});
}
Optimizer Yogi(Rate rate, double b1, double b2, double eps) {
  return Chain({ScaleByYogi({.b1 = b1, .b2 = b2, .eps = eps}), ScaleByLearningRate(std::move(rate))});
}
Optimizer Sm3(double rate, double momentum) { return Chain({ScaleBySm3(momentum), Scale(-rate)}); }
Optimizer SignSgd(Rate rate) { return Chain({ScaleBySign(), ScaleByLearningRate(std::move(rate))}); }
Optimizer Signum(Rate rate, double beta) {
  return Chain({Ema(beta, false), ScaleBySign(), ScaleByLearningRate(std::move(rate))});
}
Optimizer Adan(Rate rate, const AdanOptions& options, Rate weight_decay, const Mask& mask) {
  return Chain({ScaleByAdan(options), AddDecayedWeights(std::move(weight_decay), mask),
                ScaleByLearningRate(std::move(rate))});
}
Optimizer Fromage(double rate, double min_norm) {
  const double factor = 1 / std::sqrt(1 + rate * rate);
  return Chain(
      {ScaleByTrustRatio(min_norm), ScaleByLearningRate(rate * factor), AddDecayedWeights(factor - 1)});
}
Optimizer NoisySgd(Rate rate, double eta, double gamma, uint64_t seed) {
  return Chain({AddNoise(eta, gamma, seed), ScaleByLearningRate(std::move(rate))});
}

Tensor GlobalNormOf(const std::vector<Tensor>& leaves) {
  const Tensor squares = SumOfSquares(leaves);
  return squares.defined() ? Sqrt(squares) : Zeros({});
}

std::vector<Tensor> IncrementallyUpdated(const std::vector<Tensor>& next, const std::vector<Tensor>& old,
                                         double step_size) {
  RequireThat(next.size() == old.size(),
              absl::StrCat("the new tree has ", next.size(), " tensors, and the old one ", old.size()),
              "incremental_update", Caller{});
  std::vector<Tensor> moved;
  for (size_t i = 0; i < next.size(); ++i) {
    moved.push_back(next[i] * step_size + old[i] * (1 - step_size));
  }
  return moved;
}

}  // namespace hlod::optim
