// The derivative of cumulative reductions, y_i = x_0 * x_1 * ... * x_i for any associative `*`:
// reduce-windows that grow from one end of a dimension (lax.cumprod, lax.cumlogsumexp). The reducer and its
// derivative are one function of two numbers and their tangents. It is applied to whole arrays log2(n) times:
// after the step with distance d, element i is the combination of the 2 d elements that end at i.
#include <optional>
#include <utility>

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

// Concatenates two arrays along `dim`; an absent array means zeros.
Op Beside(Lowering& l, Op first, Op second, const Shape& first_shape, const Shape& second_shape,
          int64_t dim) {
  const Op parts[] = {IsZero(first) ? Zeros(l, first_shape) : first,
                      IsZero(second) ? Zeros(l, second_shape) : second};
  return Joined(l, parts, dim);
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
  const int64_t dim = along->dim, size = dims[dim];
  Dual all{{c.x[0]}, {c.t[0]}};
  for (int64_t distance = 1; distance < size; distance *= 2) {
    const auto part = [&](int64_t from, int64_t to) {
      return OfEach(all, [&](Op x) { return SliceDim(l, x, dim, from, to); });
    };
    const Dual joined = Combined(l, c.called[0], part(0, size - distance), part(distance, size));
    const Dual kept = along->backward ? part(size - distance, size) : part(0, distance);
    const Dual &first = along->backward ? joined : kept, &second = along->backward ? kept : joined;
    const Shape shapes[] = {l.shape(first.values[0]), l.shape(second.values[0])};
    all = {{Beside(l, first.values[0], second.values[0], shapes[0], shapes[1], dim)},
           {Beside(l, first.tangents[0], second.tangents[0], shapes[0], shapes[1], dim)}};
  }
  return all.tangents[0];
}

}  // namespace hlod::lazy
