// Eigenvalues and eigenvectors of general matrices: LAPACK's geev or, where that is missing, the QR iteration
// with Wilkinson's shifts.
//
// An iteration of the loop applies one Householder reflection. Starting from k = 0, the reflections make H -
// shift, restricted to the active rows, upper triangular (M = Q^H (H - shift)), and each one is applied to H
// from both sides: after the last one H is Q^H H Q, the next H of the QR iteration. When the last row's
// elements left of the diagonal are nearly 0, that row is deflated (no longer active). H converges to an
// upper triangular T; its eigenvectors follow by back substitution from the last row up, for all eigenvalues
// at once.
#include <algorithm>
#include <string>

#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/tensor/ops/linalg/routine.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/ops/shape/movement.h"
#include "hlod/ops/linalg.h"

namespace hlod::linalg {
namespace {

using lazy::AsBatch;
using lazy::BatchOf;
using lazy::Lowering;
using lazy::Op;
using lazy::Operands;
using lazy::Order;
using lazy::State;
using lazy::With;

// QR iterations per eigenvalue; about three are usual.
constexpr int64_t kIterations = 12;

// Helpers for the body of the loop: matrices [batch, n, n] of c128.
struct SquareMatrix {
  hlo::Builder& b;
  int64_t batch, n;
  hlo::ComputationId add;  // A sum of c128.

  Dims whole() const { return {batch, n, n}; }
  Dims rows() const { return {batch, n}; }
  Op Number(double value, const Dims& dims) const {
    const Op number = lazy::NumberIn(b, hlo::kC128, value);
    return dims.empty() ? number : b.Broadcast(number, dims, {});
  }
  Op Index(const Dims& dims, int64_t dim) const { return b.Iota(Shape::Array(hlo::kS64, dims), dim); }
  Op Spread(Op x, const Dims& dims, Dims at) const { return b.Broadcast(x, dims, std::move(at)); }
  Op Where(Op mask, Op x) const { return b.Select(mask, x, lazy::FullLike(b, x, 0)); }
  Op Conj(Op x) const {
    return b.Binary(hlo::kComplex, b.Unary(hlo::kReal, x), b.Unary(hlo::kNegate, b.Unary(hlo::kImag, x)));
  }
  Op Sum(Op x, int64_t dim) const { return b.Reduce(x, lazy::NumberLike(b, x, 0), {dim}, add); }
  Op And(Op x, Op y) const { return b.Binary(hlo::kAnd, x, y); }
  Op Size(Op x) const { return b.Unary(hlo::kAbs, x); }
  // Returns the element at row i and column j of each matrix; i and j are [batch].
  Op At(Op x, Op i, Op j) const {
    const Op here = And(b.Compare(Index(whole(), 1), Spread(i, whole(), {0}), Order::kEq),
                        b.Compare(Index(whole(), 2), Spread(j, whole(), {0}), Order::kEq));
    return Sum(Sum(Where(here, x), 2), 1);
  }
  Op Identity() const {
    return b.Convert(b.Compare(Index(whole(), 1), Index(whole(), 2), Order::kEq), hlo::kC128);
  }
};

// Returns Wilkinson's shift: the eigenvalue of the 2 x 2 block that ends at `last` which is nearer to the
// last diagonal element.
Op Shift(const SquareMatrix& m, Op h, Op last) {
  hlo::Builder& b = m.b;
  const Op one = lazy::FullLike(b, last, 1), zero = lazy::FullLike(b, last, 0);
  const Op before = b.Binary(hlo::kMaximum, last - one, zero);
  const Op p = m.At(h, before, before), q = m.At(h, before, last), r = m.At(h, last, before),
           s = m.At(h, last, last);
  const Dims dims = {m.batch};
  const Op half = m.Number(0.5, dims), mean = (p + s) * half, gap = (p - s) * half;
  const Op root = b.Unary(hlo::kSqrt, gap * gap + q * r);
  const Op plus = mean + root, minus = mean - root;
  const Op nearer = b.Compare(m.Size(plus - s), m.Size(minus - s), Order::kLt);
  // A stagnating iteration gets an exceptional shift.
  return b.Select(nearer, plus, minus);
}

// Returns the index of the last active row, after deflating trailing rows that are nearly 0 left of the
// diagonal.
Op Deflated(const SquareMatrix& m, Op h, Op last) {
  hlo::Builder& b = m.b;
  const Op one = lazy::FullLike(b, last, 1), zero = lazy::FullLike(b, last, 0);
  const Op before = b.Binary(hlo::kMaximum, last - one, zero);
  // The whole row left of the diagonal is checked, because H need not be in Hessenberg form.
  const Op in_row = m.And(b.Compare(m.Index(m.whole(), 1), m.Spread(last, m.whole(), {0}), Order::kEq),
                          b.Compare(m.Index(m.whole(), 2), m.Spread(last, m.whole(), {0}), Order::kLt));
  const Op left = m.Where(in_row, h),
           scale = m.Where(b.Compare(m.Index(m.whole(), 1), m.Index(m.whole(), 2), Order::kEq), h);
  const auto length = [&](Op x) {
    const Op size = m.Size(x);
    return b.Unary(hlo::kReal, m.Sum(m.Sum(b.Convert(size * size, hlo::kC128), 2), 1));
  };
  const Op tiny = length(scale) * lazy::FullLike(b, length(scale), 1e-34);
  const Op done = m.And(b.Compare(length(left), tiny, Order::kLe), b.Compare(last, zero, Order::kGt));
  return b.Select(done, before, last);
}

// The Schur form: T upper triangular and Z with x = Z T Z^H. `reached` is pred [batch]: true when the
// iteration converged.
struct SchurOps {
  Op t, z, reached;
};
SchurOps SchurByLoop(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const int64_t batch = dims[0], n = dims[1];
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, hlo::kC128);
  const Op last = l.Full(hlo::kS64, {batch}, n - 1), zero = l.Number(hlo::kS64, 0);
  const State start = {x, lazy::Identity(l, hlo::kC128, batch, n), x, last, zero};
  const State done = lazy::ForEach(l, kIterations * n * n, start, [&](hlo::Builder& b, Op, const State& s) {
    const SquareMatrix m{b, batch, n, add};
    const Op h = s[0], z = s[1], k = s[4];
    const Op begins = b.Broadcast(b.Compare(k, lazy::NumberIn(b, hlo::kS64, 0), Order::kEq), {batch}, {});
    const Op last = b.Select(begins, Deflated(m, h, s[3]), s[3]);
    const Op shifted = h - m.Spread(Shift(m, h, last), m.whole(), {0}) * m.Identity();
    const Op triangle = b.Select(m.Spread(begins, m.whole(), {0}), shifted, s[2]);
    // Column k of M from its diagonal down to the last active row.
    const Op at_k = b.Broadcast(k, m.rows(), {}), row = m.Index(m.rows(), 1);
    const Op in_column = b.Compare(m.Index(m.whole(), 2), b.Broadcast(k, m.whole(), {}), Order::kEq);
    const Op column = m.Sum(m.Where(in_column, triangle), 2);
    const Op active =
        m.And(b.Compare(row, at_k, Order::kGe), b.Compare(row, m.Spread(last, m.rows(), {0}), Order::kLe));
    const Op part = m.Where(active, column), size = m.Size(part);
    const Op squares = m.Sum(b.Convert(size * size, hlo::kC128), 1);
    const Op norm = b.Unary(hlo::kSqrt, squares);
    const Op is_k = b.Compare(row, at_k, Order::kEq);
    const Op alpha = m.Sum(m.Where(is_k, part), 1), alpha_size = m.Size(alpha);
    const Op phase = b.Select(b.Compare(alpha_size, lazy::FullLike(b, alpha_size, 0), Order::kGt),
                              alpha / b.Convert(alpha_size, hlo::kC128), m.Number(1, {batch}));
    const Op v = part + m.Where(is_k, m.Spread(phase * norm, m.rows(), {0}));
    // The reflection I - v w^H with w = 2 v / |v|^2; the identity where v is 0.
    const Op v_size = m.Size(v);
    const Op length = m.Sum(b.Convert(v_size * v_size, hlo::kC128), 1);
    const Op some = b.Compare(b.Unary(hlo::kReal, length), lazy::FullLike(b, alpha_size, 0), Order::kGt);
    const Op factor = b.Select(some, m.Number(2, {batch}) / length, m.Number(0, {batch}));
    const Op w = v * m.Spread(factor, m.rows(), {0});
    const auto down = [&](Op y) { return m.Spread(y, m.whole(), {0, 1}); };
    const auto along = [&](Op y) { return m.Spread(y, m.whole(), {0, 2}); };
    const auto from_left = [&](Op y) { return y - down(v) * along(m.Sum(down(m.Conj(w)) * y, 1)); };
    const auto from_right = [&](Op y) { return y - down(m.Sum(y * along(w), 2)) * along(m.Conj(v)); };
    const Op next = k + lazy::NumberIn(b, hlo::kS64, 1), count = lazy::NumberIn(b, hlo::kS64, n);
    return State{from_right(from_left(h)), from_right(z), from_left(triangle), last,
                 b.Binary(hlo::kRemainder, next, count)};
  });
  const SquareMatrix m{l.b, batch, n, add};
  const Op reached = lazy::CompareOps(l, Deflated(m, done[0], done[3]), 0, Order::kEq);
  const Op row = m.Index(m.whole(), 1), column = m.Index(m.whole(), 2);
  return {m.Where(l.b.Compare(row, column, Order::kLe), done[0]), done[1], reached};
}

// Returns the eigenvectors of T as the columns of an upper triangular matrix with ones on its diagonal.
Op TriangleVectors(Lowering& l, Op t) {
  const Dims dims = l.dims(t);
  const int64_t batch = dims[0], n = dims[1];
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, hlo::kC128);
  return lazy::ForEach(
      l, n, {lazy::Identity(l, hlo::kC128, batch, n), t}, [&](hlo::Builder& b, Op turn, const State& s) {
        const SquareMatrix m{b, batch, n, add};
        const Op i = lazy::NumberIn(b, hlo::kS64, n - 1) - turn;
        const Op row = m.Index(m.whole(), 1), column = m.Index(m.whole(), 2);
        const Op here = b.Compare(row, b.Broadcast(i, m.whole(), {}), Order::kEq);
        const Op right = b.Compare(column, b.Broadcast(i, m.whole(), {}), Order::kGt);
        // Row i of T right of the diagonal, times the rows of the vectors computed so far.
        const Op t_row = m.Sum(m.Where(m.And(here, right), s[1]), 1);
        const Op sums = m.Sum(m.Spread(t_row, m.whole(), {0, 1}) * s[0], 1);
        const Op diagonal = m.Sum(m.Where(b.Compare(row, column, Order::kEq), s[1]), 2);
        const Op of_i = m.Sum(
            m.Where(b.Compare(m.Index(m.rows(), 1), b.Broadcast(i, m.rows(), {}), Order::kEq), diagonal), 1);
        const Op gap = diagonal - m.Spread(of_i, m.rows(), {0});
        const Op none = b.Compare(m.Size(gap), lazy::FullLike(b, m.Size(gap), 0), Order::kEq);
        const Op value = sums / b.Select(none, m.Number(1e-300, m.rows()), gap);
        return State{b.Select(m.And(here, right), m.Spread(value, m.whole(), {0, 2}), s[0]), s[1]};
      })[0];
}

// Returns the eigenvalues [batch, n], the eigenvectors [batch, n, n], each of length 1 with a real largest
// element, and an info as LAPACK's.
std::vector<Op> EigByLoop(Lowering& l, Op x) {
  const Dims dims = l.dims(x);
  const SchurOps schur = SchurByLoop(l, l.Convert(x, hlo::kC128));
  const hlo::ComputationId add = l.Reducer(hlo::kAdd, hlo::kC128);
  const SquareMatrix m{l.b, dims[0], dims[1], add};
  hlo::DotAttributes dot;
  dot.lhs_batch = dot.rhs_batch = {0};
  dot.lhs_contracting = {2};
  dot.rhs_contracting = {1};
  const Op v = l.b.Dot(schur.z, TriangleVectors(l, schur.t), dot), size = m.Size(v);
  const Op length = l.b.Unary(hlo::kSqrt, l.Reduce(hlo::kAdd, size * size, {1}));
  const Op largest = l.Reduce(hlo::kMaximum, size, {1});
  const Op place = m.Index(m.whole(), 1);
  const Op is_largest = l.b.Compare(size, l.b.Broadcast(largest, dims, {0, 2}), Order::kEq);
  const Op first =
      l.Reduce(hlo::kMinimum, l.b.Select(is_largest, place, l.Full(hlo::kS64, dims, dims[1])), {1});
  const Op here = l.b.Compare(place, l.b.Broadcast(first, dims, {0, 2}), Order::kEq);
  const Op top = l.Reduce(hlo::kAdd, m.Where(here, v), {1});
  const Op turn = m.Conj(top) / l.Convert(m.Size(top) * length, hlo::kC128);
  const Op diagonal =
      l.Reduce(hlo::kAdd, m.Where(l.b.Compare(place, m.Index(m.whole(), 2), Order::kEq), schur.t), {2});
  return {diagonal, v * l.b.Broadcast(turn, dims, {0, 2}),
          l.Convert(l.b.Unary(hlo::kNot, schur.reached), hlo::kS32)};
}

// Returns the complex eigenvalues of matrices [batch, n, n] and, when `vectors`, their right eigenvectors.
std::vector<Op> EigOps(Lowering& l, Op x, bool vectors) {
  const PrimitiveType type = l.type(x);
  const bool complex = hlo::IsComplex(type);
  const PrimitiveType wide = type == hlo::kF64 || type == hlo::kC128 ? hlo::kC128 : hlo::kC64;
  const Dims dims = l.dims(x);
  const std::string config = vectors ? "{compute_left = 78 : ui8, compute_right = 86 : ui8}"
                                     : "{compute_left = 78 : ui8, compute_right = 78 : ui8}";
  std::vector<Op> parts =
      lazy::CallRoutine(l, lazy::RoutineTarget("geev", type), config, {x}, [&](Lowering& inner, Operands o) {
        const std::vector<Op> found = EigByLoop(inner, o[0]);
        const Op none = inner.Full(wide, dims, 0), values = inner.Convert(found[0], wide);
        const Op right = vectors ? inner.Convert(found[1], wide) : none;
        if (complex) return std::vector<Op>{values, none, right, found[2]};
        return std::vector<Op>{inner.b.Unary(hlo::kReal, values), inner.b.Unary(hlo::kImag, values), none,
                               right, found[2]};
      });
  const Op values = complex ? parts[0] : l.b.Binary(hlo::kComplex, parts[0], parts[1]);
  const Op right = parts[parts.size() - 2], info = parts.back();
  return lazy::NanWhereFailed(l, info, {values, right});
}

std::vector<Tensor> EigParts(const Operand& x, bool vectors) {
  return lazy::CallSeveral(lazy::ops::LinalgEig, {x}, [&](Lowering& l, Operands o) {
    const Op in = AsBatch(l, o[0]);
    lazy::RequireSquare(l, o[0]);
    const PrimitiveType type = l.type(in);
    if (!lazy::HasRoutines(type)) {
      lazy::Refuse("eigenvalues of matrices of %s are not computed: convert them to f32", hlo::Name(type));
    }
    const Dims dims = l.dims(in), batch = BatchOf(l.dims(o[0]));
    const int64_t n = dims[1];
    if (lazy::Count(dims) == 0) {
      const PrimitiveType wide = type == hlo::kF64 || type == hlo::kC128 ? hlo::kC128 : hlo::kC64;
      return std::vector<Op>{l.Full(wide, With(batch, {n}), 0), l.Full(wide, With(batch, {n, n}), 0)};
    }
    const std::vector<Op> parts = EigOps(l, in, vectors);
    return std::vector<Op>{l.Reshape(parts[0], With(batch, {n})), l.Reshape(parts[1], With(batch, {n, n}))};
  });
}

}  // namespace

EigenParts Eig(const Operand& x) {
  const std::vector<Tensor> parts = EigParts(x, true);
  return {parts[0], parts[1]};
}
Tensor Eigvals(const Operand& x) { return EigParts(x, false)[0]; }

}  // namespace hlod::linalg
