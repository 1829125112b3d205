// Singular values and eigenvalues of Hermitian matrices: LAPACK's or, where that is missing, Hestenes'
// one-sided Jacobi method. Columns are rotated in pairs until all are orthogonal. An iteration rotates all
// adjacent pairs at once; between iterations the columns are permuted as in a round-robin tournament, so that
// all pairs occur.
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/indexing/sorting.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/ops/shape/stop.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/linalg.h"
#include "hlod/ops/math.h"
#include "hlod/ops/reduction.h"
#include "hlod/ops/shape.h"

namespace hlod::linalg {

using lazy::AsBatch;
using lazy::FullLike;
using lazy::Lowering;
using lazy::N;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::State;

namespace {

// Every pair of columns occurs once per sweep. The method converges quadratically; this number of sweeps
// suffices for f64.
constexpr int64_t kSweeps = 14;

Op ConjugateIn(hlo::Builder& b, Op x) {
  if (!hlo::IsComplex(b.shape(x).type)) return x;
  return b.Binary(hlo::kComplex, b.Unary(hlo::kReal, x), b.Unary(hlo::kNegate, b.Unary(hlo::kImag, x)));
}
Op ConjugateOf(Lowering& l, Op x) { return ConjugateIn(l.b, x); }
Op Adjoint(Lowering& l, Op x) { return ConjugateOf(l, l.b.Transpose(x, {0, 2, 1})); }

// The even and the odd columns of [batch, rows, 2 k].
struct Pair {
  Op first, second;  // [batch, rows, k]
};
Pair Halves(hlo::Builder& b, Op x) {
  const Dims dims = b.shape(x).dims;
  return {b.Slice(x, {0, 0, 0}, dims, {1, 1, 2}), b.Slice(x, {0, 0, 1}, dims, {1, 1, 2})};
}
// Interleaves the pairs again, permuted by one round: the first column stays, the others of `first` move
// right, those of `second` left.
Op Moved(hlo::Builder& b, const Pair& pair) {
  const Dims dims = b.shape(pair.first).dims;
  const int64_t k = dims[2];
  const auto part = [&](Op x, int64_t from, int64_t to) {
    return b.Slice(x, {0, 0, from}, {dims[0], dims[1], to}, {1, 1, 1});
  };
  Op first = pair.first, second = pair.second;
  if (k > 1) {
    std::vector<Op> top = {part(first, 0, 1), part(second, 0, 1)};
    if (k > 2) top.push_back(part(first, 1, k - 1));
    const Op bottom[] = {part(second, 1, k), part(first, k - 1, k)};
    first = b.Concatenate(top, 2);
    second = b.Concatenate(bottom, 2);
  }
  const Dims column = {dims[0], dims[1], k, 1};
  const Op both[] = {b.Reshape(first, column), b.Reshape(second, column)};
  return b.Reshape(b.Concatenate(both, 3), {dims[0], dims[1], 2 * k});
}

// For x [batch, m, n] with m >= n: w with orthogonal columns, and v with x v = w, in f64 or c128.
struct Turned {
  Op w, v;
};
Turned OrthogonalColumns(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], n = dims[2];
  const PrimitiveType type = l.type(x);
  Op v = lazy::Identity(l, type, batch, n);
  if (n % 2 != 0) {  // A column of zeros is orthogonal to all columns.
    x = lazy::PadDim(l, x, N(l, x, 0), 2, {0, 1, 0});
    v = lazy::PadDim(l, v, N(l, v, 0), 2, {0, 1, 0});
  }
  const int64_t even = n + n % 2;
  const PrimitiveType real = l.type(l.b.Unary(hlo::kAbs, x));
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, type), add_real = l.Reducer(hlo::kAdd, real);
  const State done = lazy::ForEach(
      l, kSweeps * std::max<int64_t>(even - 1, 1), {x, v}, [&](hlo::Builder& b, Op, const State& s) {
        const Pair w = Halves(b, s[0]), turns = Halves(b, s[1]);
        const auto squares = [&](Op y) {
          const Op size = b.Unary(hlo::kAbs, y), square = size * size;
          return b.Reduce(square, lazy::NumberLike(b, square, 0), {1}, add_real);  // [batch, pairs]
        };
        const Op alpha = squares(w.first), beta = squares(w.second);
        const Op product = ConjugateIn(b, w.first) * w.second;
        const Op gamma = b.Reduce(product, lazy::NumberLike(b, product, 0), {1}, add);
        const Op size = b.Unary(hlo::kAbs, gamma), one = FullLike(b, size, 1), zero = FullLike(b, size, 0);
        const Op least = b.Unary(hlo::kSqrt, alpha * beta) * FullLike(b, size, 1e-16);
        const Op turn = b.Compare(size, b.Binary(hlo::kMaximum, least, zero), Order::kGt);
        const Op divisor = b.Select(turn, size, one);
        // The smaller root of t t + 2 zeta t - 1 is the tangent of the rotation.
        const Op zeta = (beta - alpha) / (divisor + divisor);
        const Op sign = b.Select(b.Compare(zeta, zero, Order::kLt), b.Unary(hlo::kNegate, one), one);
        const Op root = b.Unary(hlo::kSqrt, one + zeta * zeta);
        const Op t = b.Select(turn, sign / (b.Unary(hlo::kAbs, zeta) + root), zero);
        const Op cosine = one / b.Unary(hlo::kSqrt, one + t * t), sine = cosine * t;
        // The phase of the second column makes the inner product of the two real.
        const Op phase =
            b.Select(turn, ConjugateIn(b, gamma) / b.Convert(divisor, type), FullLike(b, gamma, 1));
        const auto turned = [&](const Pair& pair) -> Pair {
          const Dims& shape = b.shape(pair.first).dims;
          const auto spread = [&](Op y) { return b.Broadcast(b.Convert(y, type), shape, {0, 2}); };
          const Op second = pair.second * spread(phase);
          return {spread(cosine) * pair.first - spread(sine) * second,
                  spread(sine) * pair.first + spread(cosine) * second};
        };
        return State{Moved(b, turned(w)), Moved(b, turned(turns))};
      });
  return {done[0], done[1]};
}

// U [batch, m, k], the singular values [batch, k] in descending order, and V [batch, n, k].
struct Decomposition {
  Op u, values, v;
};
Decomposition JacobiOps(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const bool complex = hlo::IsComplex(l.type(x)), wide = dims[1] < dims[2];
  const int64_t k = std::min(dims[1], dims[2]);
  const PrimitiveType exact = complex ? hlo::kC128 : hlo::kF64;
  Op in = l.Convert(x, exact);
  if (wide) in = Adjoint(l, in);
  if (lazy::Count(dims) == 0) {
    return {l.Full(exact, {dims[0], dims[1], k}, 0), l.Full(hlo::kF64, {dims[0], k}, 0),
            l.Full(exact, {dims[0], dims[2], k}, 0)};
  }
  const Turned turned = OrthogonalColumns(l, in);
  const Op size = l.b.Unary(hlo::kAbs, turned.w);
  const Op lengths = l.b.Unary(hlo::kSqrt, l.Reduce(hlo::kAdd, size * size, {1}));
  const Op keys[] = {lengths, lazy::IndexIota(l, l.dims(lengths), 1)};
  const std::vector<Op> sorted = lazy::SortOps(l, keys, 1, true);
  // When n is odd, the added column of zeros sorts last, or among other columns of length 0; the first k are
  // taken.
  const Op values = lazy::SliceDim(l, sorted[0], 1, 0, k), order = lazy::SliceDim(l, sorted[1], 1, 0, k);
  const auto taken = [&](Op columns) {
    const Dims& shape = l.dims(columns);
    return lazy::GatherAlong(l, columns, 2, l.b.Broadcast(order, {shape[0], shape[1], k}, {0, 2}));
  };
  const Op length = l.b.Broadcast(values, {dims[0], l.dims(turned.w)[1], k}, {0, 2});
  const Op positive = lazy::CompareOps(l, length, 0, Order::kGt);
  const Op divisor = l.Convert(SelectOps(l, positive, length, N(l, length, 1)), exact);
  const Op left = taken(turned.w) / divisor, right = taken(turned.v);
  return wide ? Decomposition{right, values, left} : Decomposition{left, values, right};
}

// REQUIRES: x is f64 or c128.
Decomposition DecomposedOps(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  if (lazy::Count(dims) == 0) return JacobiOps(l, x);
  const std::vector<Op> parts = lazy::CallRoutine(
      l, lazy::RoutineTarget("gesdd", l.type(x)), "{mode = 83 : ui8}", {x}, [&](Lowering& inner, Operands o) {
        const Decomposition svd = JacobiOps(inner, o[0]);
        return std::vector<Op>{o[0], svd.values, svd.u, Adjoint(inner, svd.v),
                               inner.Full(hlo::kS32, {dims[0]}, 0)};
      });
  const std::vector<Op> found = lazy::NanWhereFailed(l, parts[4], {parts[2], parts[1], parts[3]});
  return {found[0], found[1], Adjoint(l, found[2])};
}

Decomposition SvdOps(Lowering& l, Op x) {
  const bool complex = hlo::IsComplex(l.type(x));
  const Op exact = l.Convert(x, complex ? hlo::kC128 : hlo::kF64);
  const std::vector<Op> parts = lazy::WithOwnDerivative(l, "svd", {exact}, [&](Operands o) {
    const Decomposition svd = DecomposedOps(l, o[0]);
    return std::vector<Op>{svd.u, svd.values, svd.v};
  });
  return {parts[0], parts[1], parts[2]};
}

// Returns the Hermitian matrix whose upper or lower triangle x holds.
Op Mirrored(Lowering& l, Op x, bool upper) {
  lazy::RequireSquare(l, x);
  const Dims dims = l.dims(x);
  const Op row = lazy::IndexIota(l, dims, 1), column = lazy::IndexIota(l, dims, 2);
  const Op given = l.b.Compare(row, column, upper ? Order::kLt : Order::kGt);
  const Op diagonal = l.b.Compare(row, column, Order::kEq);
  const Op real = hlo::IsComplex(l.type(x)) ? l.Convert(l.b.Unary(hlo::kReal, x), l.type(x)) : x;
  return l.b.Select(diagonal, real, l.b.Select(given, x, Adjoint(l, x)));
}

PrimitiveType RealType(Lowering& l, Op x) { return l.type(l.b.Unary(hlo::kAbs, x)); }
using lazy::BatchOf;
using lazy::With;
double Epsilon(PrimitiveType real) { return real == hlo::kF64 ? 0x1p-52 : 0x1p-23; }

// Returns the two matrix dimensions, wrapped to count from 0.
Dims MatrixDims(const Operand& x, DimList dims) {
  Dims pair;
  lazy::Explain(lazy::ops::LinalgMatrixNorm, {&x, 1}, x.caller(), [&] {
    if (dims.size() != 2) Refuse("dimensions %s are not those of a matrix", lazy::ListText(dims));
    pair = lazy::WrapDims(dims, lazy::TensorOf(lazy::ops::LinalgMatrixNorm, x).rank());
  });
  return pair;
}
// Moves the matrix dimensions to the end. The next function restores norms to the original dimensions, with
// sizes of 1 there.
Tensor AsMatrix(const Operand& x, DimList dims) {
  const Dims pair = MatrixDims(x, dims), last = {-2, -1};
  return Movedim(x, pair, last);
}
Tensor WithMatrixDims(const Operand& x, DimList dims, bool keepdim, Tensor norm) {
  if (!keepdim) return norm;
  Dims pair = MatrixDims(x, dims);
  std::sort(pair.begin(), pair.end());
  for (const int64_t dim : pair) norm = norm.Unsqueeze(dim);
  return norm;
}

// Returns the threshold above which a singular value counts, [batch].
Op Threshold(Lowering& l, Op values, const Dims& dims, PrimitiveType real, const Tolerance& tolerance) {
  const double relative = tolerance.relative.value_or(
      tolerance.absolute > 0 ? 0 : static_cast<double>(std::max(dims[1], dims[2])) * Epsilon(real));
  const Op greatest = l.Reduce(hlo::kMaximum, values, {1});
  const Op absolute = l.Setting(l.type(values), tolerance.absolute, "absolute");
  return l.b.Binary(hlo::kMaximum, greatest * l.Setting(l.type(values), relative, "relative"),
                    l.BroadcastTo(absolute, l.dims(greatest)));
}

}  // namespace

namespace {

// Returns the columns followed by columns that complete them to an orthonormal basis.
Op Completed(Lowering& l, Op columns) {
  const Dims dims = l.dims(columns);
  const int64_t rows = dims[1], k = dims[2];
  if (rows == k) return columns;
  const Op basis = k == 0 || dims[0] == 0 ? lazy::Identity(l, l.type(columns), dims[0], rows)
                                          : lazy::Reflected(l, columns, rows).q;
  const Op parts[] = {columns, lazy::WithoutGradient(l, lazy::SliceDim(l, basis, 2, k, rows), columns)};
  return lazy::Joined(l, parts, 2);
}

}  // namespace

SvdParts Svd(const Operand& x, bool full_matrices) {
  std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::LinalgSvd, {x}, [&](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]);
    const Dims dims = l.dims(in), batch = BatchOf(l.dims(o[0]));
    const int64_t k = std::min(dims[1], dims[2]);
    const Decomposition svd = SvdOps(l, in);
    const Op u = full_matrices ? Completed(l, svd.u) : svd.u, v = full_matrices ? Completed(l, svd.v) : svd.v;
    const PrimitiveType type = l.type(in), real = RealType(l, in);
    return std::vector<Op>{l.Reshape(l.Convert(u, type), With(batch, {dims[1], l.dims(u)[2]})),
                           l.Reshape(l.Convert(svd.values, real), With(batch, {k})),
                           l.Reshape(l.Convert(Adjoint(l, v), type), With(batch, {l.dims(v)[2], dims[2]}))};
  });
  return {parts[0], parts[1], parts[2]};
}

Tensor Svdvals(const Operand& x) {
  const CallerScope scope(x.caller());
  return Svd(x).s;
}

namespace {

Op PinvOps(Lowering& l, Op x, const Tolerance& tolerance) {
  const Decomposition svd = SvdOps(l, x);
  const Op threshold = Threshold(l, svd.values, l.dims(x), RealType(l, x), tolerance);
  const Op counted = l.b.Compare(svd.values, l.b.Broadcast(threshold, l.dims(svd.values), {0}), Order::kGt);
  const Op inverse = SelectOps(l, counted, N(l, svd.values, 1) / svd.values, N(l, svd.values, 0));
  const Op scaled = svd.v * l.b.Broadcast(l.Convert(inverse, l.type(svd.v)), l.dims(svd.v), {0, 2});
  hlo::DotAttributes dot;
  dot.lhs_batch = dot.rhs_batch = {0};
  dot.lhs_contracting = dot.rhs_contracting = {2};
  return l.Convert(l.b.Dot(scaled, ConjugateOf(l, svd.u), dot), l.type(x));
}

}  // namespace

Tensor Pinv(const Operand& x, const Tolerance& tolerance, bool hermitian) {
  return lazy::Unary(lazy::ops::LinalgPinv, x, [&](Lowering& l, Op x) {
    const Op in = AsBatch(l, x);
    const Dims dims = l.dims(in), to = With(BatchOf(l.dims(x)), {dims[2], dims[1]});
    const PrimitiveType type = l.type(in);
    if (lazy::Count(dims) == 0) return l.Full(type, to, 0);
    return l.Reshape(lazy::OwnDerivative(l, "pinv", {in},
                                         [&](Operands o) {
                                           const Op given = hermitian ? Mirrored(l, o[0], false) : o[0];
                                           return PinvOps(l, given, tolerance);
                                         }),
                     to);
  });
}

Tensor MatrixRank(const Operand& x, const Tolerance& tolerance, bool hermitian) {
  return lazy::Unary(lazy::ops::LinalgMatrixRank, x, [&](Lowering& l, Op x) {
    const Op in = AsBatch(l, x);
    const Dims dims = l.dims(in), batch = BatchOf(l.dims(x));
    if (lazy::Count(dims) == 0) return l.Full(hlo::kS64, batch, 0);
    const Decomposition svd = SvdOps(l, hermitian ? Mirrored(l, in, false) : in);
    const Op threshold = Threshold(l, svd.values, dims, RealType(l, in), tolerance);
    const Op counted = l.b.Compare(svd.values, l.b.Broadcast(threshold, l.dims(svd.values), {0}), Order::kGt);
    return l.Reshape(l.Reduce(hlo::kAdd, l.Convert(counted, hlo::kS64), {1}), batch);
  });
}

Tensor Cond(const Operand& x) {
  const CallerScope scope(x.caller());
  const Tensor values = Svdvals(x);
  return values.Select(-1, 0) / values.Select(-1, -1);
}

Tensor NuclearNorm(const Operand& x, DimList dims, bool keepdim) {
  const CallerScope scope(x.caller());
  const Dims last = {-1};
  return WithMatrixDims(x, dims, keepdim, Sum(Svdvals(AsMatrix(x, dims)), last));
}

Tensor MatrixNorm(const Operand& x, double order, DimList dims, bool keepdim) {
  const CallerScope scope(x.caller());
  const Dims pair = MatrixDims(x, dims), last = {-1};
  const double size = std::abs(order);
  if (size == 2) {
    const Tensor values = Svdvals(AsMatrix(x, pair));
    return WithMatrixDims(x, pair, keepdim, order > 0 ? Amax(values, last) : Amin(values, last));
  }
  lazy::Explain(lazy::ops::LinalgMatrixNorm, {&x, 1}, x.caller(), [&] {
    if (size != 1 && size != std::numeric_limits<double>::infinity()) {
      Refuse("the order (%g) of a norm of matrices is not 1, 2 or infinite", order);
    }
  });
  const bool columns = size == 1;
  const Dims summed = {columns ? pair[0] : pair[1]}, rest = {columns ? pair[1] : pair[0]};
  const Tensor sums = Sum(Abs(x), summed, true);
  const Tensor extreme = order > 0 ? Amax(sums, rest, true) : Amin(sums, rest, true);
  return keepdim ? extreme : Squeeze(extreme, pair);
}
Tensor FrobeniusNorm(const Operand& x, DimList dims, bool keepdim) {
  const CallerScope scope(x.caller());
  return VectorNorm(x, 2, dims, keepdim);
}

namespace {

// Computes the eigenvalues of a Hermitian x as singular values: x + c is positive definite when c is at least
// the norm of x, so its singular values are its eigenvalues. The values are in ascending order.
std::vector<Op> EighByShift(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const Op size = l.b.Unary(hlo::kAbs, x);
  const Op shift = l.b.Unary(hlo::kSqrt, l.Reduce(hlo::kAdd, size * size, {1, 2}));
  const Op spread = l.b.Broadcast(l.Convert(shift, l.type(x)), dims, {0});
  const Decomposition svd = JacobiOps(l, x + spread * lazy::Identity(l, l.type(x), dims[0], dims[1]));
  const Op values = svd.values - l.b.Broadcast(shift, l.dims(svd.values), {0});
  return {lazy::Reversed(l, values, {1}), lazy::Reversed(l, svd.v, {2})};
}

// REQUIRES: x is f64 or c128.
std::vector<Op> EighOps(Lowering& l, Op x) {
  const char* const routine = hlo::IsComplex(l.type(x)) ? "heevd" : "syevd";
  const std::vector<Op> parts = lazy::CallRoutine(
      l, lazy::RoutineTarget(routine, l.type(x)), "{mode = 86 : ui8, uplo = 76 : ui8}", {x},
      [&](Lowering& inner, Operands o) {
        const std::vector<Op> found = EighByShift(inner, o[0]);
        return std::vector<Op>{found[1], found[0], inner.Full(hlo::kS32, {inner.dims(o[0])[0]}, 0)};
      });
  return lazy::NanWhereFailed(l, parts[2], {parts[1], parts[0]});
}

}  // namespace

EighParts Eigh(const Operand& x, bool upper) {
  std::vector<Tensor> parts = lazy::CallSeveral(lazy::ops::LinalgEigh, {x}, [&](Lowering& l, Operands o) {
    const Op given = AsBatch(l, o[0]);
    lazy::RequireSquare(l, o[0]);
    const Dims dims = l.dims(given), batch = BatchOf(l.dims(o[0]));
    const int64_t n = dims[1];
    const PrimitiveType type = l.type(given), real = RealType(l, given);
    if (lazy::Count(dims) == 0) {
      return std::vector<Op>{l.Full(real, With(batch, {n}), 0), l.Full(type, With(batch, {n, n}), 0)};
    }
    const PrimitiveType exact = hlo::IsComplex(type) ? hlo::kC128 : hlo::kF64;
    const std::vector<Op> parts =
        lazy::WithOwnDerivative(l, "eigh", {l.Convert(given, exact)},
                                [&](Operands o) { return EighOps(l, Mirrored(l, o[0], upper)); });
    return std::vector<Op>{l.Reshape(l.Convert(parts[0], real), With(batch, {n})),
                           l.Reshape(l.Convert(parts[1], type), With(batch, {n, n}))};
  });
  return {parts[0], parts[1]};
}
Tensor Eigvalsh(const Operand& x, bool upper) {
  const CallerScope scope(x.caller());
  return Eigh(x, upper).values;
}

}  // namespace hlod::linalg
