// torch.linalg: factorizations, solutions, determinants.
#include "hlod/ops/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/tensor/ops/shape/known.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/math.h"

namespace hlod::linalg {

using lazy::AsBatch;
using lazy::CompareOps;
using lazy::Decomposed;
using lazy::ListText;
using lazy::Lowering;
using lazy::LuOps;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::SolvedTriangular;
using lazy::Transposition;

namespace {

using lazy::BatchOf;
using lazy::With;

Op Conjugate(Lowering& l, Op x) {
  if (!hlo::IsComplex(l.type(x))) return x;
  return l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, x),
                    l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, x)));
}
Op Transpose(Lowering& l, Op x) { return l.b.Transpose(x, {0, 2, 1}); }

// Returns the diagonals of [batch, n, m].
Op Diagonal(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const int64_t n = std::min(dims[1], dims[2]);
  const Op same = l.b.Compare(lazy::IndexIota(l, dims, 1), lazy::IndexIota(l, dims, 2), Order::kEq);
  const Op only = SelectOps(l, same, x, N(l, x, 0));
  return lazy::SliceDim(l, l.Reduce(hlo::kAdd, only, {2}), 1, 0, n);
}

// Returns info [batch]: the position (from 1) of the first 0 on the diagonal, or 0.
Op InfoOf(Lowering& l, Op lu) {
  const Op diagonal = Diagonal(l, lu);
  const Dims dims = l.dims(diagonal);
  const Op place = lazy::IndexIota(l, dims, 1) + l.Number(hlo::kS64, 1),
           none = l.Number(hlo::kS64, dims[1] + 1);
  const Op zero = CompareOps(l, diagonal, N(l, diagonal, 0), Order::kEq);
  const Op first = l.Reduce(hlo::kMinimum, SelectOps(l, zero, place, none), {1});
  const Op found = CompareOps(l, first, none, Order::kLt);
  return l.Convert(SelectOps(l, found, first, l.Number(hlo::kS64, 0)), hlo::kS32);
}

// L (with a unit diagonal) and U of a factorization.
Op Lower(Lowering& l, Op lu, int64_t n) {
  Op part = lazy::SliceDim(l, lu, 2, 0, n);
  const Dims dims = l.dims(part);
  const Op row = lazy::IndexIota(l, dims, 1), column = lazy::IndexIota(l, dims, 2);
  part = SelectOps(l, l.b.Compare(row, column, Order::kGt), part, N(l, part, 0));
  return SelectOps(l, l.b.Compare(row, column, Order::kEq), N(l, part, 1), part);
}
Op Upper(Lowering& l, Op lu, int64_t n) {
  const Op part = lazy::SliceDim(l, lu, 1, 0, n);
  const Dims dims = l.dims(part);
  const Op row = lazy::IndexIota(l, dims, 1), column = lazy::IndexIota(l, dims, 2);
  return SelectOps(l, l.b.Compare(row, column, Order::kLe), part, N(l, part, 0));
}

// Returns X of A X = B, using the factors of A.
Op SolvedByLu(Lowering& l, const LuOps& factors, Op b) {
  return SolvedByFactors(l, factors.lu, lazy::TakeRows(l, b, factors.permutation));
}

// `sign` is the permutation's sign times the signs of the diagonal; `logarithm` is the sum of the logarithms
// of the diagonal's sizes.
struct Determinant {
  Op sign, logarithm, value;
};
std::vector<Op> DeterminantParts(Lowering& l, Op x) {
  const LuOps factors = Decomposed(l, x, false);
  const Op diagonal = Diagonal(l, factors.lu);
  const Op place = lazy::IndexIota(l, l.dims(factors.pivots), 1);
  const Op exchanged = l.Convert(l.b.Compare(factors.pivots, place, Order::kNe), hlo::kS64);
  const Op count = l.Reduce(hlo::kAdd, exchanged, {1});
  const Op odd =
      CompareOps(l, l.b.Binary(hlo::kAnd, count, l.Number(hlo::kS64, 1)), l.Number(hlo::kS64, 1), Order::kEq);
  const Op parity = SelectOps(l, odd, N(l, diagonal, -1), N(l, diagonal, 1));
  const Op size = l.b.Unary(hlo::kAbs, diagonal);
  const Op zero = CompareOps(l, size, 0, Order::kEq);
  const Op unit = SelectOps(l, zero, N(l, diagonal, 0),
                            diagonal / l.Convert(SelectOps(l, zero, N(l, size, 1), size), l.type(x)));
  return {parity * l.Reduce(hlo::kMultiply, unit, {1}),
          l.Reduce(hlo::kAdd, l.b.Unary(hlo::kLog, size), {1}),
          parity * l.Reduce(hlo::kMultiply, diagonal, {1}),
          factors.lu,
          factors.permutation,
          parity};
}
Determinant DeterminantOps(Lowering& l, Op x) {
  const Dims batch = BatchOf(l.dims(x));
  const std::vector<Op> parts = lazy::WithOwnDerivative(
      l, "determinant", {AsBatch(l, x)}, [&](Operands o) { return DeterminantParts(l, o[0]); });
  return {l.Reshape(parts[0], batch), l.Reshape(parts[1], batch), l.Reshape(parts[2], batch)};
}

Op CholeskyOps(Lowering& l, Op x, bool upper) {
  lazy::RequireSquare(l, x);
  if (lazy::Count(l.dims(x)) == 0) return x;
  const Op in = AsBatch(l, x);
  const Op factor = l.b.Add(hlo::kCholesky, {in}, hlo::CholeskyAttributes{!upper});
  // The other triangle is set to zero.
  const Dims dims = l.dims(in);
  const Op row = lazy::IndexIota(l, dims, 1), column = lazy::IndexIota(l, dims, 2);
  const Op kept = l.b.Compare(row, column, upper ? Order::kLe : Order::kGe);
  return l.Reshape(SelectOps(l, kept, factor, N(l, factor, 0)), l.dims(x));
}

// A and B with equal batch dimensions. A batch of vectors B is solved as matrices of one column.
struct System {
  Op a, b;      // [batch, ...]
  Dims result;  // The shape that X is reshaped to.
};
System SystemOf(Lowering& l, Op a, Op b) {
  lazy::RequireSquare(l, a);
  const Dims x = l.dims(a);
  Dims y = l.dims(b);
  if (l.type(a) != l.type(b)) Refuse("types %s and %s differ", hlo::Name(l.type(a)), hlo::Name(l.type(b)));
  const bool vector =
      y.size() == 1 || (y.size() + 1 == x.size() && std::equal(y.begin(), y.end(), x.begin()));
  if (vector) y.push_back(1);
  const int64_t n = x.back();
  if (y.size() < 2 || y[y.size() - 2] != n) {
    Refuse("matrices of shape %s and right sides of shape %s do not fit", ListText(x), ListText(l.dims(b)));
  }
  const Dims batch = lazy::BroadcastDims(BatchOf(x), BatchOf(y));
  const Dims to = With(batch, {n, y.back()});
  System system;
  system.a = AsBatch(l, l.BroadcastTo(a, With(batch, {n, n})));
  system.b = AsBatch(l, l.BroadcastTo(l.Reshape(b, y), to));
  system.result = to;
  if (vector) system.result.pop_back();
  return system;
}

WithInfo Both(std::vector<Tensor> results) { return {std::move(results[0]), std::move(results[1])}; }

template <typename F>
WithInfo Solved(const lazy::Operation& operation, std::initializer_list<Operand> operands, F system_of) {
  return Both(lazy::CallSeveral(operation, operands, [&](Lowering& l, Operands o) {
    const System system = system_of(l, o);
    const LuOps factors = Decomposed(l, system.a);
    const Dims& result = system.result;
    const Dims batch = BatchOf(l.dims(o[0]));
    const Op info = InfoOf(l, factors.lu);
    const bool same = lazy::Count(batch) == l.dims(info)[0];
    return std::vector<Op>{l.Reshape(SolvedByLu(l, factors, system.b), result),
                           same ? l.Reshape(info, batch) : info};
  }));
}

// Throws for the first matrix whose U is known to have a 0 on its diagonal.
void CheckRegular(const Tensor& info, const lazy::Operation& operation, const char* consequence,
                  const Caller& caller) {
  const std::optional<Literal> known = lazy::KnownValue(info, caller);
  if (!known.has_value()) return;
  const absl::Span<const int32_t> values = known->data<int32_t>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const std::string batch = info.rank() == 0 ? "" : absl::StrCat("(Batch element ", i, "): ");
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat(batch, "The diagonal element ", values[i], " is zero, ", consequence,
                             " because the input matrix is singular"),
                operation.pytorch, caller);
  }
}

}  // namespace

Tensor Cholesky(const Operand& x, bool upper) {
  return lazy::Unary(lazy::ops::LinalgCholesky, x,
                     [&](Lowering& l, Op x) { return CholeskyOps(l, x, upper); });
}
WithInfo CholeskyEx(const Operand& x, bool upper) {
  return Both(lazy::CallSeveral(lazy::ops::LinalgCholesky, {x}, [&](Lowering& l, Operands o) {
    const Op factor = CholeskyOps(l, o[0], upper);
    const Op nan = l.Reduce(hlo::kOr, lazy::NanOps(l, AsBatch(l, factor)), {1, 2});
    return std::vector<Op>{lazy::Count(l.dims(factor)) == 0 ? l.b.Unary(hlo::kCopy, factor) : factor,
                           l.Reshape(l.Convert(nan, hlo::kS32), BatchOf(l.dims(o[0])))};
  }));
}

namespace {

// Returns P, L and U of [batch, rows, columns].
std::vector<Op> PartsOf(Lowering& l, Op lu, Op permutation, const Dims& batch) {
  const Dims dims = l.dims(lu);
  const int64_t rows = dims[1], n = std::min(rows, dims[2]);
  // P has a 1 at row permutation[i] of column i.
  const Dims square = {dims[0], rows, rows};
  const Op at = l.b.Broadcast(permutation, square, {0, 2});
  const Op p = l.Convert(l.b.Compare(lazy::IndexIota(l, square, 1), at, Order::kEq), l.type(lu));
  return {l.Reshape(p, With(batch, {rows, rows})), l.Reshape(Lower(l, lu, n), With(batch, {rows, n})),
          l.Reshape(Upper(l, lu, n), With(batch, {n, dims[2]}))};
}

}  // namespace

LuParts LuUnpack(const Operand& lu, const Operand& pivots) {
  std::vector<Tensor> parts =
      lazy::CallSeveral(lazy::ops::LinalgLu, {lu, pivots}, [](Lowering& l, Operands o) {
        const Op in = AsBatch(l, o[0]);
        const Dims dims = l.dims(in), batch = BatchOf(l.dims(o[0]));
        const int64_t steps = std::min(dims[1], dims[2]);
        lazy::RequireIndex(l, o[1]);
        if (l.dims(o[1]) != With(batch, {steps})) {
          Refuse("factors of shape %s and pivots of shape %s do not fit", ListText(l.dims(o[0])),
                 ListText(l.dims(o[1])));
        }
        const Op exchanges = l.Convert(l.Reshape(o[1], {dims[0], steps}), hlo::kS64) - l.Number(hlo::kS64, 1);
        return PartsOf(l, in, lazy::PermutationOf(l, exchanges, dims[1]), batch);
      });
  return {parts[0], parts[1], parts[2]};
}

Tensor CholeskySolve(const Tensor& b, const Tensor& factor, bool upper, Caller caller) {
  const CallerScope scope(caller);
  const Tensor adjoint = Conj(factor.Transpose(-2, -1));
  const Tensor& first = upper ? adjoint : factor;
  const Tensor& second = upper ? factor : adjoint;
  return SolveTriangular(second, SolveTriangular(first, b, false), true);
}
Tensor CholeskyInverse(const Tensor& factor, bool upper, Caller caller) {
  const CallerScope scope(caller);
  const Tensor identity = Eye(factor.size(-1), {}, {.type = factor.dtype(), .device = factor.device()});
  return CholeskySolve(identity.Expand(factor.dims()), factor, upper);
}

LuParts Lu(const Operand& x) {
  std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::LinalgLu, {x}, [](Lowering& l, Operands o) {
    const LuOps factors = Decomposed(l, AsBatch(l, o[0]));
    return PartsOf(l, factors.lu, factors.permutation, BatchOf(l.dims(o[0])));
  });
  return {parts[0], parts[1], parts[2]};
}

LuFactors LuFactorEx(const Operand& x) {
  std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::LinalgLuFactor, {x}, [](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]);
    const Dims batch = BatchOf(l.dims(o[0]));
    const LuOps factors = Decomposed(l, in);
    const Op pivots = l.Convert(factors.pivots + l.Number(hlo::kS64, 1), hlo::kS32);
    const Op info = InfoOf(l, factors.lu);
    const Op lu = lazy::Count(l.dims(in)) == 0 ? l.b.Unary(hlo::kCopy, factors.lu) : factors.lu;
    return std::vector<Op>{l.Reshape(lu, l.dims(o[0])), l.Reshape(pivots, With(batch, {l.dims(pivots)[1]})),
                           l.Reshape(info, batch)};
  });
  return {parts[0], parts[1], parts[2]};
}

Tensor LuSolve(const Operand& lu, const Operand& pivots, const Operand& b, bool left, bool adjoint) {
  return lazy::Call(lazy::ops::LinalgLuSolve, {lu, pivots, b}, [&](Lowering& l, Operands o) {
    lazy::RequireSquare(l, o[0]);
    lazy::RequireIndex(l, o[1]);
    const Dims x = l.dims(o[0]), y = l.dims(o[2]);
    const int64_t n = x.back();
    if (y.size() < 2 || (left ? y[y.size() - 2] : y.back()) != n || l.dims(o[1]) != With(BatchOf(x), {n}) ||
        l.type(o[0]) != l.type(o[2])) {
      Refuse("factors of shape %s, pivots of %s and right sides of %s do not fit", ListText(x),
             ListText(l.dims(o[1])), ListText(y));
    }
    const Dims batch = lazy::BroadcastDims(BatchOf(x), BatchOf(y));
    const Op factors = AsBatch(l, l.BroadcastTo(o[0], With(batch, {n, n})));
    const Op spread = l.BroadcastTo(o[1], With(batch, {n}));
    const Op exchanges =
        l.Convert(l.Reshape(spread, {lazy::Count(batch), n}), hlo::kS64) - l.Number(hlo::kS64, 1);
    const Op permutation = lazy::PermutationOf(l, exchanges, n);
    const Dims to = With(batch, {y[y.size() - 2], y.back()});
    Op side = AsBatch(l, l.BroadcastTo(o[2], to));
    // X A = B is solved as A^T X^T = B^T; with the adjoint of A, as conj(A) X^T = B^T.
    if (!left) side = Transpose(l, side);
    const bool reversed = left == adjoint;  // True when the transposed A is solved.
    const bool conjugated = adjoint;
    if (conjugated && !left) side = Conjugate(l, side);
    if (!reversed) {
      side = SolvedByFactors(l, factors, lazy::TakeRows(l, side, permutation));
    } else {
      const Transposition how = left ? Transposition::kAdjoint : Transposition::kTranspose;
      side = SolvedTriangular(l, factors, side, true, false, false, how);
      side = SolvedTriangular(l, factors, side, true, true, true, how);
      side = lazy::TakeRows(l, side, lazy::InversePermutation(l, permutation));
    }
    if (conjugated && !left) side = Conjugate(l, side);
    if (!left) side = Transpose(l, side);
    return l.Reshape(side, to);
  });
}

WithInfo SolveEx(const Operand& a, const Operand& b) {
  return Solved(lazy::ops::LinalgSolve, {a, b},
                [](Lowering& l, Operands o) { return SystemOf(l, o[0], o[1]); });
}
Tensor Solve(const Operand& a, const Operand& b) {
  const CallerScope scope(a.caller());
  WithInfo solved = SolveEx(a, b);
  CheckRegular(solved.info, lazy::ops::LinalgSolve, "the system has no single solution", a.caller());
  return std::move(solved.result);
}
WithInfo InvEx(const Operand& x) {
  return Solved(lazy::ops::LinalgInv, {x}, [](Lowering& l, Operands o) {
    lazy::RequireSquare(l, o[0]);
    const Op in = AsBatch(l, o[0]);
    return System{in, lazy::Identity(l, l.type(in), l.dims(in)[0], l.dims(in)[1]), l.dims(o[0])};
  });
}
Tensor Inv(const Operand& x) {
  const CallerScope scope(x.caller());
  WithInfo inverse = InvEx(x);
  CheckRegular(inverse.info, lazy::ops::LinalgInv, "the inversion could not be completed", x.caller());
  return std::move(inverse.result);
}

Tensor SolveTriangular(const Operand& a, const Operand& b, bool upper, bool left, bool unitriangular) {
  return lazy::Binary(lazy::ops::LinalgSolveTriangular, a, b, [&](Lowering& l, Op a, Op b) {
    lazy::RequireSquare(l, a);
    const Dims x = l.dims(a), y = l.dims(b);
    const int64_t n = x.back();
    if (y.size() < 2 || (left ? y[y.size() - 2] : y.back()) != n || l.type(a) != l.type(b)) {
      Refuse("triangles of shape %s and right sides of shape %s do not fit", ListText(x), ListText(y));
    }
    const Dims batch = lazy::BroadcastDims(BatchOf(x), BatchOf(y));
    const Dims to = With(batch, {y[y.size() - 2], y.back()});
    const Op solved = SolvedTriangular(l, AsBatch(l, l.BroadcastTo(a, With(batch, {n, n}))),
                                       AsBatch(l, l.BroadcastTo(b, to)), left, !upper, unitriangular);
    return l.Reshape(solved, to);
  });
}

Tensor Det(const Operand& x) {
  return lazy::Unary(lazy::ops::LinalgDet, x, [](Lowering& l, Op x) {
    lazy::RequireSquare(l, x);
    return DeterminantOps(l, x).value;
  });
}
std::pair<Tensor, Tensor> Slogdet(const Operand& x) {
  std::vector<Tensor> both = lazy::CallSeveral(lazy::ops::LinalgDet, {x}, [](Lowering& l, Operands o) {
    lazy::RequireSquare(l, o[0]);
    const Determinant determinant = DeterminantOps(l, o[0]);
    return std::vector<Op>{determinant.sign, determinant.logarithm};
  });
  return {both[0], both[1]};
}
Tensor Logdet(const Operand& x) {
  return lazy::Unary(lazy::ops::LinalgDet, x, [](Lowering& l, Op x) {
    lazy::RequireSquare(l, x);
    const Determinant determinant = DeterminantOps(l, x);
    // The logarithm of the sign is NaN for -1; for a complex sign it is i times the angle.
    return l.b.Unary(hlo::kLog, determinant.sign) + l.Convert(determinant.logarithm, l.type(x));
  });
}

std::pair<Tensor, Tensor> Qr(const Operand& x, QrMode mode) {
  std::vector<Tensor> both = lazy::CallSeveral(lazy::ops::LinalgQr, {x}, [&](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]);
    const Dims dims = l.dims(in), batch = BatchOf(l.dims(o[0]));
    const int64_t kept = mode == QrMode::kComplete ? dims[1] : std::min(dims[1], dims[2]);
    const std::vector<Op> parts = lazy::WithOwnDerivative(l, "qr", {in}, [&](Operands o) {
      const lazy::QrOps factors = lazy::Reflected(l, o[0], kept);
      return std::vector<Op>{factors.q, lazy::SliceDim(l, l.b.Unary(hlo::kCopy, factors.r), 1, 0, kept)};
    });
    return std::vector<Op>{l.Reshape(parts[0], With(batch, {dims[1], kept})),
                           l.Reshape(parts[1], With(batch, {kept, dims[2]}))};
  });
  return {both[0], both[1]};
}
Tensor HouseholderProduct(const Operand& x, const Operand& tau) {
  return lazy::Binary(lazy::ops::LinalgHouseholderProduct, x, tau, [](Lowering& l, Op x, Op tau) {
    const Op in = AsBatch(l, x);
    const Dims dims = l.dims(in), taus = l.dims(tau), batch = BatchOf(l.dims(x));
    if (dims[1] < dims[2] || taus.empty() || taus.back() > dims[2] || With(batch, {taus.back()}) != taus ||
        l.type(x) != l.type(tau)) {
      Refuse("columns of shape %s and factors of shape %s do not fit", ListText(l.dims(x)), ListText(taus));
    }
    return l.Reshape(lazy::ReflectionProduct(l, in, l.Reshape(tau, {dims[0], taus.back()})), l.dims(x));
  });
}

}  // namespace hlod::linalg
