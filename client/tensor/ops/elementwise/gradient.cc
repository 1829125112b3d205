// torch.gradient: derivatives estimated from neighbours.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/cumulative.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/joining.h"

namespace hlod {

using lazy::Refuse;
using lazy::TensorOf;

namespace {

// Tensor arithmetic along one dimension of x. Errors in the composed operations report `caller`, the line
// that called gradient.
class GradientAlong {
 public:
  GradientAlong(const Tensor& x, int64_t dim, const Caller& caller) : x_(x), dim_(dim), caller_(caller) {}

  Tensor Part(int64_t start, std::optional<int64_t> end) const {
    return x_.Slice(dim_, start, end, 1, caller_);
  }
  Tensor At(int64_t index) const {
    return Part(index, index == -1 ? std::nullopt : std::optional(index + 1));
  }
  Tensor Join(const Tensor& first, const Tensor& center, const Tensor& last) const {
    return Cat({first, center, last}, dim_, caller_);
  }
  Tensor Plus(const Tensor& a, const Tensor& b) const { return Add(Of(a), Of(b)); }
  Tensor Minus(const Tensor& a, const Tensor& b) const { return Sub(Of(a), Of(b)); }
  template <typename T>
  Tensor Times(const Tensor& a, const T& b) const {
    return Mul(Of(a), Of(b));
  }
  template <typename T>
  Tensor Over(const Tensor& a, const T& b) const {
    return Div(Of(a), Of(b));
  }

 private:
  Operand Of(const Tensor& tensor) const { return Operand(tensor, caller_); }
  Operand Of(double number) const { return Operand(number, caller_); }

  const Tensor& x_;
  int64_t dim_;
  const Caller& caller_;
};

// Returns the derivative for points that are `h` apart.
Tensor EvenlySpaced(const GradientAlong& x, double h, int64_t edge_order) {
  const Tensor center = x.Over(x.Minus(x.Part(2, {}), x.Part(0, -2)), 2 * h);
  if (edge_order == 1) {
    return x.Join(x.Over(x.Minus(x.At(1), x.At(0)), h), center, x.Over(x.Minus(x.At(-1), x.At(-2)), h));
  }
  const auto end = [&](const Tensor& outer, const Tensor& middle, const Tensor& inner, double sign) {
    const Tensor sum = x.Plus(x.Times(outer, -1.5), x.Times(middle, 2.0));
    return x.Over(x.Minus(sum, x.Times(inner, 0.5)), sign * h);
  };
  return x.Join(end(x.At(0), x.At(1), x.At(2), 1), center, end(x.At(-1), x.At(-2), x.At(-3), -1));
}

// Weights for the derivative at the middle, first or last of three points at distances `a` and `b`: the slope
// of the parabola through them.
struct Weights {
  Tensor left, middle, right;
};
enum class LinePart { kFirst, kMiddle, kLast };
Weights WeightsOf(const GradientAlong& x, const Tensor& a, const Tensor& b, LinePart where) {
  const Tensor both = x.Plus(a, b);
  const Tensor left = x.Times(a, both), middle = x.Times(a, b), right = x.Times(b, both);
  switch (where) {
    case LinePart::kFirst:
      return {x.Over(x.Times(x.Plus(both, a), -1.0), left), x.Over(both, middle),
              x.Over(x.Times(a, -1.0), right)};
    case LinePart::kLast:
      return {x.Over(b, left), x.Over(x.Times(both, -1.0), middle), x.Over(x.Plus(both, b), right)};
    case LinePart::kMiddle: break;
  }
  return {x.Over(x.Times(b, -1.0), left), x.Over(x.Minus(b, a), middle), x.Over(a, right)};
}

// Returns the derivative for points at `coordinates`, a vector.
Tensor AtCoordinates(const GradientAlong& x, const Tensor& coordinates, int64_t rank, int64_t dim,
                     int64_t edge_order, const Caller& caller) {
  Dims column(rank, 1);
  column[dim] = coordinates.numel() - 1;
  const Tensor steps = Diff(Operand(coordinates, caller)).Reshape(column, caller);
  const GradientAlong step(steps, dim, caller);
  const auto slope = [&](const Weights& w, const Tensor& left, const Tensor& middle, const Tensor& right) {
    return x.Plus(x.Plus(x.Times(left, w.left), x.Times(middle, w.middle)), x.Times(right, w.right));
  };
  const Tensor center = slope(WeightsOf(x, step.Part(0, -1), step.Part(1, {}), LinePart::kMiddle),
                              x.Part(0, -2), x.Part(1, -1), x.Part(2, {}));
  if (edge_order == 1) {
    return x.Join(x.Over(x.Minus(x.At(1), x.At(0)), step.At(0)), center,
                  x.Over(x.Minus(x.At(-1), x.At(-2)), step.At(-1)));
  }
  const Tensor first =
      slope(WeightsOf(x, step.At(0), step.At(1), LinePart::kFirst), x.At(0), x.At(1), x.At(2));
  const Tensor last =
      slope(WeightsOf(x, step.At(-2), step.At(-1), LinePart::kLast), x.At(-3), x.At(-2), x.At(-1));
  return x.Join(first, center, last);
}

}  // namespace

std::vector<Tensor> Gradient(const Operand& x, const GradientOptions& options) {
  const Tensor& tensor = TensorOf(lazy::ops::Gradient, x);
  Dims dims;
  lazy::Explain(lazy::ops::Gradient, {&x, 1}, x.caller(), [&] {
    dims = lazy::WrapDims(options.dims, tensor.rank());
    const auto count = static_cast<int64_t>(dims.size());
    if (options.edge_order != 1 && options.edge_order != 2) {
      Refuse("the edges' order (%d) is not 1 or 2", options.edge_order);
    }
    const auto spacings = static_cast<int64_t>(options.spacing.size());
    const auto coordinates = static_cast<int64_t>(options.coordinates.size());
    if (spacings > 1 && spacings != count)
      Refuse("%d spacings are not one for each of %d dimensions", spacings, count);
    if (coordinates > 0 && coordinates != count) {
      Refuse("%d vectors of coordinates are not one for each of %d dimensions", coordinates, count);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t size = tensor.dims()[dims[i]];
      if (size < options.edge_order + 1) {
        Refuse("dimension %d of size %d has fewer than %d points", dims[i], size, options.edge_order + 1);
      }
      if (coordinates == 0) continue;
      const Tensor& at = options.coordinates[i];
      if (!at.defined() || at.rank() != 1 || at.dims()[0] != size) {
        Refuse("the coordinates of dimension %d are not a vector of %d", dims[i], size);
      }
    }
  });
  std::vector<Tensor> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const GradientAlong along(tensor, dims[i], x.caller());
    if (!options.coordinates.empty()) {
      result.push_back(AtCoordinates(along, options.coordinates[i], tensor.rank(), dims[i],
                                     options.edge_order, x.caller()));
      continue;
    }
    const double h = options.spacing.empty() ? 1 : options.spacing[options.spacing.size() == 1 ? 0 : i];
    result.push_back(EvenlySpaced(along, h, options.edge_order));
  }
  return result;
}

}  // namespace hlod
