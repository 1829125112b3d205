// Distances between vectors, and vectors of unit length.
#include "hlod/ops/nn/distance.h"

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;

namespace {

// Returns the differences of all pairs of n rows. Pair k is (i, j), where i is the number of whole rows of
// the triangle of pairs before k. It is computed by the quadratic formula in f64, and corrected by one when
// rounding made it wrong.
Op PairDifferences(Lowering& l, Op x) {
  const int64_t n = l.dims(x)[0], pairs = n * (n - 1) / 2;
  const Op k = lazy::IndexIota(l, {pairs}, 0);
  const Op twice = l.Number(hlo::kS64, 2 * n - 1);
  const auto start = [&](Op i) { return i * (twice - i) / l.Number(hlo::kS64, 2); };
  const Op b = l.Number(hlo::kF64, static_cast<double>(2 * n - 1));
  const Op root = l.b.Unary(hlo::kSqrt, b * b - l.Convert(k, hlo::kF64) * l.Number(hlo::kF64, 8));
  const Op one = l.Number(hlo::kS64, 1);
  Op i = l.Convert((b - root) / l.Number(hlo::kF64, 2), hlo::kS64);
  i = i - l.Convert(l.b.Compare(start(i), k, Order::kGt), hlo::kS64);
  i = i + l.Convert(l.b.Compare(start(i + one), k, Order::kLe), hlo::kS64);
  const Op j = k - start(i) + i + one;
  return lazy::SelectSlices(l, x, 0, i) - lazy::SelectSlices(l, x, 0, j);
}

}  // namespace

Tensor PairwiseDistance(const Operand& x, const Operand& y, double p, double eps, bool keepdim) {
  const CallerScope scope(x.caller());
  const Dims last = {-1};
  const Tensor difference = Add(Sub(x, y), eps);
  return VectorNorm(Operand(difference, x.caller()), p, last, keepdim);
}

Tensor Pdist(const Operand& x, double p) {
  if (!(p >= 0)) {
    lazy::Explain(lazy::ops::Pdist, {&x, 1}, x.caller(), [&] { Refuse("p (%g) is negative", p); });
  }
  const Tensor differences = lazy::Unary(lazy::ops::Pdist, x, [](Lowering& l, Op x) {
    const Dims dims = l.dims(x);
    if (dims.size() != 2) Refuse("rows of a matrix are needed, not shape %s", ListText(dims));
    if (!hlo::IsFloat(l.type(x))) Refuse("distances of %s are not defined", hlo::Name(l.type(x)));
    if (dims[0] < 2) return l.Full(l.type(x), {0, dims[1]}, 0);
    return PairDifferences(l, x);
  });
  const Dims last = {1};
  return VectorNorm(Operand(differences, x.caller()), p, last);
}

Tensor Normalize(const Operand& x, double p, int64_t dim, double eps) {
  const CallerScope scope(x.caller());
  const Dims along = {dim};
  return Div(x, Clamp(VectorNorm(x, p, along, true), Operand(eps)));
}

Tensor Bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias, Caller caller) {
  const CallerScope scope(caller);
  const Tensor product = Einsum("...i,kij,...j->...k", {x1, weight, x2});
  return bias.defined() ? product + bias : product;
}

}  // namespace hlod
