// Adafactor: keeps the second moments of a matrix as moments of its rows and of its columns (Shazeer and
// Stern, 2018).
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod::optim {
namespace {

struct Factored {
  int64_t smaller, larger;  // The two largest dimensions, by their sizes.
};

std::optional<Factored> FactoredDims(const Dims& dims, const AdafactorOptions& options) {
  if (!options.factored || dims.size() < 2) return std::nullopt;
  std::vector<int64_t> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
  const Factored factored = {order[order.size() - 2], order.back()};
  if (dims[factored.smaller] < options.min_dim_size_to_factor) return std::nullopt;
  return factored;
}

Dims Without(Dims dims, int64_t dim) {
  dims.erase(dims.begin() + dim);
  return dims;
}

// State: two tensors per parameter, for rows and columns (or, when not factored, the moments and an empty
// tensor); then the count.
class FactoredRms : public Link {
 public:
  explicit FactoredRms(const AdafactorOptions& options) : options_(options) {}

  Tensors Init(const Tensors& params) const override {
    Tensors state;
    for (const Tensor& param : params) {
      const auto factored = FactoredDims(param.dims(), options_);
      const Tensor moduli = ZeroModuliFor(param);
      state.push_back(factored ? ZerosFor(moduli, Without(moduli.dims(), factored->larger)) : moduli);
      state.push_back(factored ? ZerosFor(moduli, Without(moduli.dims(), factored->smaller))
                               : ZerosFor(moduli, {0}));
    }
    state.push_back(ZeroCount(params));
    return state;
  }

  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    const Tensor& count = state.back();
    Tensors next = state;
    for (size_t i = 0; i < updates.size(); ++i) {
      if (!updates[i].defined()) continue;
      const Tensor squares = SquaredModulus(updates[i]) + options_.eps;
      // f32 also for f64 parameters, as in Optax.
      const Tensor step = (count - options_.decay_offset).To(kF32) + 1;
      const Tensor rate = (1 - Pow(step, Negative(options_.decay_rate))).To(squares.dtype());
      const auto average = [&](const Tensor& old, const Tensor& now) {
        return old * rate + now * (1 - rate);
      };
      const auto factored = FactoredDims(updates[i].dims(), options_);
      if (!factored) {
        next[2 * i] = average(state[2 * i], squares);
        updates[i] = updates[i] * Rsqrt(next[2 * i]);
        continue;
      }
      const auto [smaller, larger] = *factored;
      next[2 * i] = average(state[2 * i], Mean(squares, {larger}));
      next[2 * i + 1] = average(state[2 * i + 1], Mean(squares, {smaller}));
      const Tensor &rows = next[2 * i], &columns = next[2 * i + 1];
      const int64_t reduced = smaller > larger ? smaller - 1 : smaller;
      const Tensor row_factor = Rsqrt(rows / Mean(rows, {reduced}, true)), column_factor = Rsqrt(columns);
      updates[i] = updates[i] * row_factor.Unsqueeze(larger) * column_factor.Unsqueeze(smaller);
    }
    next.back() = Increment(count);
    return next;
  }

 private:
  const AdafactorOptions options_;
};

}  // namespace

Optimizer ScaleByFactoredRms(const AdafactorOptions& options) { return Make<FactoredRms>(options); }

Optimizer Adafactor(std::optional<Rate> rate, const AdafactorOptions& options) {
  std::vector<Optimizer> parts = {ScaleByFactoredRms(options)};
  if (options.clipping_threshold) parts.push_back(ClipByBlockRms(*options.clipping_threshold));
  if (rate && rate->schedule()) parts.push_back(ScaleBySchedule(rate->schedule()));
  else if (rate) parts.push_back(Scale(rate->value()));
  if (options.multiply_by_parameter_scale) parts.push_back(ScaleByParamBlockRms());
  if (options.momentum) parts.push_back(Ema(*options.momentum, /*debias=*/false));
  if (options.weight_decay_rate) parts.push_back(AddDecayedWeights(*options.weight_decay_rate));
  parts.push_back(Scale(-1));
  return Chain(parts);
}

}  // namespace hlod::optim
