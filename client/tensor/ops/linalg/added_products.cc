// beta x + alpha times a product: addmm and its relatives.
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/linear_algebra.h"
#include "hlod/ops/linear_algebra.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Refuse;
using lazy::RequireRank;

namespace {

struct Factors {
  Scalar beta, alpha;
};

bool IsZero(const Scalar& factor) { return factor.ToComplex() == std::complex<double>(0); }

// `product` multiplies the second and third operand. With a beta of 0, NaN in x is ignored, as in PyTorch.
template <typename F>
Tensor Added(const lazy::Operation& operation, const Operand& x, const Operand& a, const Operand& b,
             const Factors& factors, F product) {
  const bool constant =
      lazy::AreExact({x, a, b}) || (lazy::IsOne(factors.alpha) && lazy::IsOne(factors.beta));
  const auto lower = [&](Lowering& l, Operands o) {
    const auto times = [&](Op y, const Scalar& factor, size_t operand) {
      if (lazy::IsOne(factor)) return y;
      const char* const name = operand == 3 ? "alpha" : "beta";
      return lazy::MulOps(l, y, constant ? l.Setting(l.type(y), factor, name) : o[operand]);
    };
    const Op scaled = times(product(l, o[1], o[2]), factors.alpha, 3);
    const Op added = l.BroadcastTo(o[0], l.dims(scaled));
    return IsZero(factors.beta) ? scaled : lazy::AddOps(l, times(added, factors.beta, 4), scaled);
  };
  if (constant) return lazy::Call(operation, {x, a, b}, lower);
  return lazy::Call(operation,
                    {x, a, b, Operand(factors.alpha, a.caller()), Operand(factors.beta, a.caller())}, lower);
}

template <size_t kARank, size_t kBRank>
Op Product(Lowering& l, Op a, Op b) {
  RequireRank(l, a, kARank);
  RequireRank(l, b, kBRank);
  return lazy::MatMulOps(l, a, b);
}

Op OuterOps(Lowering& l, Op a, Op b) {
  RequireRank(l, a, 1);
  RequireRank(l, b, 1);
  const Dims dims = {l.dims(a)[0], l.dims(b)[0]};
  return lazy::MulOps(l, l.b.Broadcast(a, dims, {0}), l.b.Broadcast(b, dims, {1}));
}

void RequireOneBatch(Lowering& l, Op a, Op b) {
  RequireRank(l, a, 3);
  RequireRank(l, b, 3);
  if (l.dims(a)[0] != l.dims(b)[0]) {
    Refuse("batches of %d and %d matrices differ", l.dims(a)[0], l.dims(b)[0]);
  }
}

// Returns the sum of a batch's matrix products: one dot that contracts batch and columns.
Op BatchSumOps(Lowering& l, Op a, Op b) {
  RequireOneBatch(l, a, b);
  if (l.dims(a)[2] != l.dims(b)[1]) {
    Refuse("%d columns meet %d rows", l.dims(a)[2], l.dims(b)[1]);
  }
  hlo::DotAttributes dot;
  dot.lhs_contracting = {0, 2};
  dot.rhs_contracting = {0, 1};
  return l.b.Dot(a, b, dot);
}

}  // namespace

Tensor Outer(const Operand& x, const Operand& y) { return lazy::Binary(lazy::ops::Outer, x, y, OuterOps); }

Tensor Addmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Added(lazy::ops::Addmm, x, a, b, {beta, alpha}, Product<2, 2>);
}
Tensor Addmv(const Operand& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Added(lazy::ops::Addmv, x, a, b, {beta, alpha}, Product<2, 1>);
}
Tensor Addr(const Operand& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Added(lazy::ops::Addr, x, a, b, {beta, alpha}, [&](Lowering& l, Op a, Op b) {
    // PyTorch refuses fractional factors here too, although addmm and its relatives truncate them.
    const PrimitiveType type = l.type(a);
    if ((type == hlo::kPred || hlo::IsInteger(type)) && (alpha.is_float() || beta.is_float())) {
      Refuse("factors %g and %g must be integers for tensors of type %s", beta.ToDouble(), alpha.ToDouble(),
             hlo::Name(type));
    }
    return OuterOps(l, a, b);
  });
}
Tensor Addbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Added(lazy::ops::Addbmm, x, a, b, {beta, alpha}, BatchSumOps);
}
Tensor Baddbmm(const Operand& x, const Operand& a, const Operand& b, Scalar beta, Scalar alpha) {
  return Added(lazy::ops::Baddbmm, x, a, b, {beta, alpha}, [](Lowering& l, Op a, Op b) {
    RequireOneBatch(l, a, b);
    return lazy::MatMulOps(l, a, b);
  });
}

}  // namespace hlod
