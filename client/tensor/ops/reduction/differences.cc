// Differences and integrals over neighbours, as compositions of other operations.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "hlod/ops/comparison.h"
#include "hlod/ops/cumulative.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::Refuse;
using lazy::TensorOf;
using lazy::WrapDim;

namespace {

// One step of diff, trapezoid or their relatives: the tensor and dimension, and the caller that composed
// operations report.
struct DifferencesAlong {
  DifferencesAlong(const lazy::Operation& operation, const Operand& x, int64_t dim)
      : tensor(TensorOf(operation, x)), caller(x.caller()) {
    lazy::Explain(operation, {&x, 1}, caller, [&] {
      if (tensor.rank() == 0) Refuse("a tensor of at least one dimension is needed");
      at = WrapDim(dim, tensor.rank());
    });
  }

  // Makes an operand of a number or a tensor, with this operation's caller.
  template <typename T>
  Operand Of(const T& value) const {
    return Operand(value, caller);
  }
  int64_t size() const { return tensor.dims()[at]; }
  // Slices `of` from `start` to `end` along the dimension; negative numbers count from the end.
  Tensor Part(const Tensor& of, std::optional<int64_t> start, std::optional<int64_t> end) const {
    return of.Slice(at, start, end, 1, caller);
  }
  // Returns all but the first element minus all but the last.
  Tensor Step(const Tensor& of) const {
    const Tensor next = Part(of, 1, {}), last = Part(of, 0, of.dims()[at] - 1);
    return of.dtype() == kPred ? LogicalXor(Of(next), Of(last)) : Sub(Of(next), Of(last));
  }

  Tensor tensor;
  Caller caller;
  int64_t at = 0;
};

// Returns the distances between the points `x`, in a shape that broadcasts to the intervals.
Tensor Intervals(const lazy::Operation& operation, const DifferencesAlong& y, const Tensor& x) {
  Tensor points = x;
  lazy::Explain(operation, {}, y.caller, [&] {
    if (!x.defined() || x.rank() == 0) Refuse("the points are a tensor of at least one dimension");
    if (y.tensor.dtype() == kPred || x.dtype() == kPred) Refuse("an integral of bools is not defined");
    Dims dims;
    if (x.rank() == 1) {
      if (x.dims()[0] != y.size())
        Refuse("%d points are not one for each of %d values", x.dims()[0], y.size());
      dims.assign(y.tensor.rank(), 1);
      dims[y.at] = x.dims()[0];
    } else if (x.rank() < y.tensor.rank()) {
      dims = x.dims();
      dims.insert(dims.begin(), y.tensor.rank() - x.rank(), 1);
    }
    if (!dims.empty()) points = x.Reshape(dims, y.caller);
  });
  return y.Step(points);
}

// Returns the sums of neighbours, twice the mean heights.
Tensor Heights(const DifferencesAlong& y) {
  return Add(y.Of(y.Part(y.tensor, 0, y.size() - 1)), y.Of(y.Part(y.tensor, 1, {})));
}

Tensor Nothing(const DifferencesAlong& y) { return Sum(y.Of(y.tensor), {y.at}); }

}  // namespace

Tensor Diff(const Operand& x, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  const DifferencesAlong in(lazy::ops::Diff, x, dim);
  lazy::Explain(lazy::ops::Diff, {&x, 1}, in.caller, [&] {
    if (n < 0) Refuse("the number of differences (%d) is negative", n);
  });
  if (n == 0) return in.tensor.Clone(in.caller);
  Tensor result = in.tensor;
  if (prepend.defined() || append.defined()) {
    std::vector<Tensor> parts;
    if (prepend.defined()) parts.push_back(prepend);
    parts.push_back(in.tensor);
    if (append.defined()) parts.push_back(append);
    result = Cat(parts, in.at, in.caller);
  }
  for (int64_t i = std::min(n, result.dims()[in.at]); i > 0; --i) result = in.Step(result);
  return result;
}

Tensor Trapezoid(const Operand& y, double dx, int64_t dim) {
  const DifferencesAlong in(lazy::ops::Trapezoid, y, dim);
  if (in.size() == 0) return Nothing(in);
  const Tensor ends =
      Add(in.Of(in.tensor.Select(in.at, 0, in.caller)), in.Of(in.tensor.Select(in.at, -1, in.caller)));
  const Tensor all = Sum(in.Of(in.tensor), {in.at});
  return Mul(in.Of(Sub(in.Of(all), in.Of(Mul(in.Of(ends), in.Of(Scalar(0.5)))))), in.Of(Scalar(dx)));
}
Tensor Trapezoid(const Operand& y, const Tensor& x, int64_t dim) {
  const DifferencesAlong in(lazy::ops::Trapezoid, y, dim);
  if (in.size() == 0) return Nothing(in);
  const Tensor areas = Mul(in.Of(Heights(in)), in.Of(Intervals(lazy::ops::Trapezoid, in, x)));
  return Div(in.Of(Sum(in.Of(areas), {in.at})), in.Of(Scalar(2)));
}

Tensor CumulativeTrapezoid(const Operand& y, double dx, int64_t dim) {
  const DifferencesAlong in(lazy::ops::CumulativeTrapezoid, y, dim);
  const Tensor sums = Cumsum(in.Of(Heights(in)), in.at);
  return Mul(in.Of(sums), in.Of(Scalar(dx / 2)));
}
Tensor CumulativeTrapezoid(const Operand& y, const Tensor& x, int64_t dim) {
  const DifferencesAlong in(lazy::ops::CumulativeTrapezoid, y, dim);
  const Tensor areas = Mul(in.Of(Intervals(lazy::ops::CumulativeTrapezoid, in, x)), in.Of(Heights(in)));
  return Div(in.Of(Cumsum(in.Of(areas), in.at)), in.Of(Scalar(2)));
}

}  // namespace hlod
