// Functions of Optax around gradients.
#include "hlod/optim/optim_utils.h"

#include <cmath>
#include <numbers>

#include "hlod/ops/elementwise.h"
#include "hlod/ops/math.h"
#include "hlod/ops/random_key.h"
#include "hlod/ops/reduction.h"
#include "hlod/transform/custom_rule.h"

namespace hlod::optim {

std::vector<Tensor> WithScaledGradients(const std::vector<Tensor>& leaves, double scale) {
  std::vector<Tensor> results;
  const auto same = [](const Tensor& x) { return x; };
  const auto scaled = CustomVjp(
      same, [](const Tensor& x) { return std::pair(x, std::tuple<>()); },
      [scale](const std::tuple<>&, const Tensor& cotangent) { return std::tuple(cotangent * scale); });
  for (const Tensor& leaf : leaves) {
    if (scale == 1) results.push_back(leaf);
    else if (scale == 0) results.push_back(leaf.Detach());
    else results.push_back(scaled(leaf));
  }
  return results;
}

Tensor MultiNormal::Sample(const Dims& dims, const Operand& key) const {
  const CallerScope scope(key.caller());
  const Tensor scale = Exp(log_scale);
  const Tensor each = loc + scale;
  Dims all = dims;
  all.insert(all.end(), each.dims().begin(), each.dims().end());
  return random::Normal(key, all, each.dtype() == kF64 ? kF64 : kF32) * scale + loc;
}

Tensor MultiNormal::LogProb(const Operand& x) const {
  const CallerScope scope(x.caller());
  const Tensor logs =
      Square(Sub(x, loc) / Exp(log_scale)) * -0.5 - log_scale - 0.5 * std::log(2 * std::numbers::pi);
  Dims summed;
  for (int64_t dim = 1; dim <= (loc + log_scale).rank(); ++dim) summed.push_back(-dim);
  return summed.empty() ? logs : Sum(logs, summed);
}

}  // namespace hlod::optim
