// The derivative of cumulative reductions, y_i = x_0 * x_1 * ... * x_i for any associative `*`:
// reduce-windows that grow from one end of a dimension (lax.cumprod, lax.cumlogsumexp, lax.cummax). The
// reducer and its derivative are one function of two numbers and their tangents. Neighbours are joined to
// half as many elements, recursively. JAX joins the same elements in the same order (lax.associative_scan),
// so that equal elements share the derivative of their maximum as there.
#include <optional>
#include <utility>

#include "client/tensor/ops/reduction/scan.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/transform/rules/reducer.h"

namespace hlod::lazy {
namespace {

struct Along {
  int64_t dim;
  bool backward;  // True when the windows grow from the last element.
};

// Returns the dimension along which windows over `dims` grow, or nullopt for windows of another form.
std::optional<Along> GrowingAlong(const hlo::Window& window, const Dims& dims) {
  std::optional<Along> along;
  for (size_t i = 0; i < window.size(); ++i) {
    const hlo::WindowDimension& w = window[i];
    const int64_t others = dims[i] - 1;
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const bool forward = w.padding_low == others && w.padding_high == 0;
    const bool backward = w.padding_low == 0 && w.padding_high == others;
    if (along.has_value() || w.size != dims[i] || (!forward && !backward)) return std::nullopt;
    along = Along{static_cast<int64_t>(i), backward};
  }
  return along;
}

Op TangentOrZero(Lowering& l, Op tangent, const Shape& shape) {
  return IsZero(tangent) ? Zeros(l, shape) : tangent;
}

}  // namespace

bool IsRunning(const TangentArgs& c) {
  return GrowingAlong(c.Get<hlo::WindowAttributes>().window, c.l.dims(c.x[0])).has_value();
}

Op RunningTangent(const TangentArgs& c) {
  Lowering& l = c.l;
  const Dims dims = c.shape.dims;
  const std::optional<Along> along = GrowingAlong(c.Get<hlo::WindowAttributes>().window, dims);
  if (Count(dims) == 0) return Op{};
  const Dims reversed = {along->dim};
  const auto turned = [&](Op x) { return along->backward ? Reversed(l, x, reversed) : x; };
  const auto join = [&](Lowering& l, absl::Span<const Op> before, absl::Span<const Op> behind) {
    const Dual joined = Combined(l, c.called[0], {{before[0]}, {before[1]}}, {{behind[0]}, {behind[1]}});
    return std::vector<Op>{joined.values[0], TangentOrZero(l, joined.tangents[0], l.shape(joined.values[0]))};
  };
  return turned(PrefixesInPairs(l, {turned(c.x[0]), turned(c.t[0])}, along->dim, join)[1]);
}

}  // namespace hlod::lazy
