// Products of vectors and of tensors: inner, conjugate, Kronecker, cross.
#include <algorithm>

#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/shape.h"

namespace hlod {

using lazy::ListText;
using lazy::Lowering;
using lazy::Op;
using lazy::Refuse;
using lazy::TensorOf;

Tensor Inner(const Operand& x, const Operand& y) {
  return lazy::Binary(lazy::ops::Inner, x, y, [](Lowering& l, Op x, Op y) {
    const Dims a = l.dims(x), b = l.dims(y);
    if (a.empty() || b.empty()) return lazy::MulOps(l, x, y);
    if (a.back() != b.back()) {
      Refuse("shapes %s and %s end in %d and %d elements", ListText(a), ListText(b), a.back(), b.back());
    }
    hlo::DotAttributes dot;
    dot.lhs_contracting = {static_cast<int64_t>(a.size()) - 1};
    dot.rhs_contracting = {static_cast<int64_t>(b.size()) - 1};
    return l.b.Dot(x, y, dot);
  });
}

Tensor Vdot(const Operand& x, const Operand& y) {
  const CallerScope scope(x.caller());
  return Dot(Operand(Conj(x), x.caller()), y);
}

Tensor Kron(const Operand& x, const Operand& y) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const Tensor& left = TensorOf(lazy::ops::Kron, x);
  const Tensor& right = TensorOf(lazy::ops::Kron, y);
  // Each dimension is split in two: the outer part indexes x, the inner part y.
  Dims a, b, result;
  const int64_t rank = std::max(left.rank(), right.rank());
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t p = i - (rank - left.rank()), q = i - (rank - right.rank());
    const int64_t outer = p < 0 ? 1 : left.dims()[p], inner = q < 0 ? 1 : right.dims()[q];
    a.insert(a.end(), {outer, 1});
    b.insert(b.end(), {1, inner});
    result.push_back(outer * inner);
  }
  const Tensor outer = left.Reshape(a, caller), inner = right.Reshape(b, caller);
  return Mul(Operand(outer, caller), Operand(inner, caller)).Reshape(result, caller);
}

// Element i of the result is x[i + 1] y[i + 2] - x[i + 2] y[i + 1], indices modulo 3.
Tensor Cross(const Operand& x, const Operand& y, std::optional<int64_t> dim) {
  const CallerScope scope(x.caller());
  const Caller& caller = x.caller();
  const auto of = [&](const Tensor& tensor) { return Operand(tensor, caller); };
  const Operand operands[] = {x, y};
  Dims dims;
  int64_t at = -1;
  lazy::Explain(lazy::ops::Cross, operands, caller, [&] {
    dims = lazy::BroadcastDims(TensorOf(lazy::ops::Cross, x).dims(), TensorOf(lazy::ops::Cross, y).dims());
    const auto rank = static_cast<int64_t>(dims.size());
    if (dim.has_value()) at = lazy::WrapDim(*dim, rank);
    for (int64_t i = 0; i < rank && !dim.has_value() && at < 0; ++i) {
      if (dims[i] == 3) at = i;
    }
    if (at < 0 || rank == 0 || dims[at] != 3) {
      Refuse("a cross product needs a dimension of size 3; the shape is %s", ListText(dims));
    }
  });
  const Tensor a = x.tensor()->Expand(dims, caller), b = y.tensor()->Expand(dims, caller);
  const Tensor forth = Mul(of(Roll(of(a), {-1}, {at})), of(Roll(of(b), {-2}, {at})));
  const Tensor back = Mul(of(Roll(of(a), {-2}, {at})), of(Roll(of(b), {-1}, {at})));
  return Sub(of(forth), of(back));
}

}  // namespace hlod
