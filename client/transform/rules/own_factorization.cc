// Derivatives of factorisations whose lowering is a loop, by their formulas. Matrices are in the last two
// dimensions. A formula that conjugates a tangent is linear in the tangent's real and imaginary parts
// separately.
#include <algorithm>
#include <cmath>
#include <limits>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/transform/rules/matrices.h"
#include "client/transform/rules/own.h"

namespace hlod::lazy {
namespace {

// Returns the rows of x in the order of a permutation.
Op RowsOf(Lowering& l, Op x, Op permutation) {
  return GatherAlong(l, x, RankOf(l, x) - 2, AlongColumns(l, permutation, x));
}

// Returns x padded with zeros to `rows` and `columns`.
Op Widened(Lowering& l, Op x, int64_t rows, int64_t columns) {
  const int64_t rank = RankOf(l, x);
  const Dims dims = l.dims(x);
  if (rows > dims[rank - 2]) x = PadDim(l, x, N(l, x, 0), rank - 2, {0, rows - dims[rank - 2], 0});
  if (columns > dims[rank - 1]) x = PadDim(l, x, N(l, x, 0), rank - 1, {0, columns - dims[rank - 1], 0});
  return x;
}

Op RealType(Lowering& l, Op x) { return hlo::IsComplex(l.type(x)) ? l.b.Unary(hlo::kReal, x) : x; }

// Returns the matrix 1 / (y_j - y_i), with 0 on the diagonal.
Op Gaps(Lowering& l, Op y, Op like) {
  const Op difference = AlongRows(l, y, like) - AlongColumns(l, y, like);
  const Op diagonal = AtDiagonal(l, difference, Order::kEq);
  const Op gaps = N(l, difference, 1) / SelectOps(l, diagonal, N(l, difference, 1), difference);
  return SelectOps(l, diagonal, N(l, gaps, 0), gaps);
}

}  // namespace

// P A = L U: with F = L^-1 P dA U^-1, dL = L tril(F, -1) and dU = triu(F) U. Both are in one matrix.
Op LuTangent(Lowering& l, Op lu, Op permutation, Op t) {
  const int64_t rank = RankOf(l, lu), rows = l.dims(lu)[rank - 2], columns = l.dims(lu)[rank - 1];
  const int64_t steps = std::min(rows, columns);
  if (Count(l.dims(lu)) == 0) return Op{};
  const Op left = Widened(l, SliceDim(l, lu, rank - 1, 0, steps), rows, rows);
  Op right = Widened(l, SliceDim(l, lu, rank - 2, 0, steps), columns, columns);
  if (columns > steps) {  // U is completed by an identity.
    const Op behind = l.b.Binary(
        hlo::kAnd, AtDiagonal(l, right, Order::kEq),
        CompareOps(l, IndexIota(l, l.dims(right), rank - 1), l.Number(hlo::kS64, steps), Order::kGe));
    right = SelectOps(l, behind, N(l, right, 1), right);
  }
  const Op f = SolvedTriangular(
      l, right, SolvedTriangular(l, left, RowsOf(l, t, permutation), true, true, true), false, false, false);
  const Op strict = OnlyWhere(l, AtDiagonal(l, left, Order::kGt), left);
  const Op lower = SelectOps(l, AtDiagonal(l, left, Order::kEq), N(l, left, 1), strict);
  const Op upper = OnlyWhere(l, AtDiagonal(l, right, Order::kLe), right);
  const Op d_lower = ProductOf(l, lower, OnlyWhere(l, AtDiagonal(l, f, Order::kGt), f));
  const Op d_upper = ProductOf(l, OnlyWhere(l, AtDiagonal(l, f, Order::kLe), f), upper);
  return d_lower + d_upper;
}

// P A = L U, dA = t.
Tangents OwnLu(const TangentArgs& c) { return {LuTangent(c.l, c.x[0], c.x[2], c.t[3]), Op{}, Op{}}; }

namespace {

double EpsilonOf(Lowering& l, Op x) {
  return l.type(l.b.Unary(hlo::kAbs, x)) == hlo::kF64 ? std::numeric_limits<double>::epsilon()
                                                      : std::numeric_limits<float>::epsilon();
}

// Repeats one number per matrix to the shape of `like`.
Op AlongMatrices(Lowering& l, Op numbers, Op like) {
  Dims kept;
  for (int64_t dim = 0; dim < RankOf(l, like) - 2; ++dim) kept.push_back(dim);
  return l.b.Broadcast(numbers, l.dims(like), kept);
}
// Returns the factors without zeros on U's diagonal: the type's epsilon is in their place.
Op WithoutZeros(Lowering& l, Op lu) {
  const Op zero =
      l.b.Binary(hlo::kAnd, AtDiagonal(l, lu, Order::kEq), CompareOps(l, lu, N(l, lu, 0), Order::kEq));
  return SelectOps(l, zero, N(l, lu, EpsilonOf(l, lu)), lu);
}

Op TraceOf(Lowering& l, Op x) { return l.Reduce(hlo::kAdd, DiagonalOf(l, x), {RankOf(l, x) - 2}); }

// The inverse and the determinant of A, where P A = L U and `parity` is P's sign.
struct Inverted {
  Op inverse, determinant;
};
Inverted InvertedOf(Lowering& l, Op lu, Op permutation, Op parity) {
  const Op identity = l.Convert(AtDiagonal(l, lu, Order::kEq), l.type(lu));
  const Op product = l.Reduce(hlo::kMultiply, DiagonalOf(l, lu), {RankOf(l, lu) - 2});
  return {SolvedByFactors(l, lu, RowsOf(l, identity, permutation)), parity * product};
}
// Returns the matrix of the cofactors, det(A) A^-T, with the rule "cofactors" (OwnCofactors).
Op CofactorsOf(Lowering& l, Op a, Op lu, Op permutation, Op parity) {
  return OwnDerivative(l, "cofactors", {a, lu, permutation, parity}, [&](absl::Span<const Op> x) {
    const Inverted of = InvertedOf(l, x[1], x[2], x[3]);
    return AlongMatrices(l, of.determinant, x[1]) * TransposeOf(l, of.inverse);
  });
}

}  // namespace

// The derivative of det(A) A^-1 by A = B^-1 is det(A) (tr(B dA) - B dA) B. Where A has no inverse, B is that
// of a neighbour, whose pivots are at least the square root of epsilon times the greatest: the terms that
// cancel are then as wrong as the neighbour is.
Tangents OwnCofactors(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op lu = c.x[2];
  if (IsZero(c.t[1])) return {Op{}};
  const Op sizes = l.b.Unary(hlo::kAbs, DiagonalOf(l, lu));
  const Op greatest = l.Reduce(hlo::kMaximum, sizes, {RankOf(l, lu) - 2});
  const Op scale = SelectOps(l, CompareOps(l, greatest, 0, Order::kEq), N(l, greatest, 1), greatest);
  const Op least = AlongMatrices(l, scale * N(l, scale, std::sqrt(EpsilonOf(l, lu))), lu);
  const Op small = l.b.Compare(l.b.Unary(hlo::kAbs, lu), least, Order::kLt);
  const Op pivot = l.b.Binary(hlo::kAnd, AtDiagonal(l, lu, Order::kEq), small);
  const Op factors = SelectOps(l, pivot, l.Convert(least, l.type(lu)), lu);
  const Inverted of = InvertedOf(l, factors, c.x[3], c.x[4]);
  const Op moved = ProductOf(l, of.inverse, c.t[1]);
  const Op traces = OnlyWhere(l, AtDiagonal(l, lu, Order::kEq), AlongMatrices(l, TraceOf(l, moved), lu));
  const Op slope = ProductOf(l, traces - moved, of.inverse);
  return {AlongMatrices(l, of.determinant, lu) * TransposeOf(l, slope)};
}

// The results are sign, logarithm, value, L and U, the permutation and its sign. d det is the sum of the
// products of cofactors and dA; the derivative of the logarithm is tr(A^-1 dA). Where A has no inverse, a 0
// on U's diagonal is replaced by the type's epsilon.
Tangents OwnDeterminant(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op sign = c.x[0], lu = c.x[3], t = c.t[6];
  if (Count(l.dims(lu)) == 0) return Tangents(6);
  const Op factors = WithoutZeros(l, lu);
  const Op trace = TraceOf(l, SolvedByFactors(l, factors, RowsOf(l, t, c.x[4])));
  Tangents all(6);
  if (hlo::IsComplex(l.type(lu))) {
    const Op imaginary =
        l.b.Binary(hlo::kComplex, l.Full(l.type(l.b.Unary(hlo::kReal, trace)), l.dims(trace), 0),
                   l.b.Unary(hlo::kImag, trace));
    all[0] = sign * imaginary;
  }
  all[1] = RealType(l, trace);
  const int64_t rank = RankOf(l, lu);
  all[2] = l.Reduce(hlo::kAdd, CofactorsOf(l, c.x[6], factors, c.x[4], c.x[5]) * t, {rank - 2, rank - 1});
  all[3] = LuTangent(l, lu, c.x[4], t);
  return all;
}

namespace {

// Returns the sign of the permutation that a sequence of exchanges makes, one number per matrix.
Op ParityOf(Lowering& l, Op pivots, PrimitiveType type) {
  const Op place = IndexIota(l, l.dims(pivots), 1);
  const Op exchanged = l.b.Compare(pivots, place, Order::kNe);
  const Op signs = SelectOps(l, exchanged, l.Full(type, l.dims(pivots), -1), l.Full(type, l.dims(pivots), 1));
  return l.Reduce(hlo::kMultiply, signs, {1});
}

// Returns tr(A^-1 t), one number per matrix, by the steps of JAX's rules, which decide what is infinite and
// what is NaN where A has no inverse: a quotient of sums of products for up to two rows, otherwise a
// solution.
Op InverseTrace(Lowering& l, Op a, Op t) {
  Dims batch = l.dims(a);
  const int64_t n = batch.back(), rank = RankOf(l, a);
  batch.resize(batch.size() - 2);
  const auto at = [&](Op x, int64_t i, int64_t j) {
    return l.Reshape(SliceDim(l, SliceDim(l, x, rank - 2, i, i + 1), rank - 1, j, j + 1), batch);
  };
  if (n == 1) return at(t, 0, 0) / at(a, 0, 0);
  if (n == 2) {
    const Op determinant = at(a, 0, 0) * at(a, 1, 1) - at(a, 0, 1) * at(a, 1, 0);
    const Op sum = at(t, 0, 0) * at(a, 1, 1) - at(t, 0, 1) * at(a, 1, 0) - at(t, 1, 0) * at(a, 0, 1) +
                   at(t, 1, 1) * at(a, 0, 0);
    return sum / determinant;
  }
  const Op matrices = AsBatch(l, a);
  const LuOps factors = Decomposed(l, matrices);
  const Op rows = RowsOf(l, l.Reshape(t, l.dims(matrices)), factors.permutation);
  return l.Reshape(TraceOf(l, SolvedByFactors(l, factors.lu, rows)), batch);
}

}  // namespace

// The determinant alone.
Tangents OwnDet(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op a = AsBatch(l, c.x[1]);
  if (Count(l.dims(a)) == 0) return {Op{}};
  const LuOps factors = Decomposed(l, a, false);
  const Op parity = ParityOf(l, factors.pivots, l.type(a));
  const Op cofactors = CofactorsOf(l, a, WithoutZeros(l, factors.lu), factors.permutation, parity);
  const Op sum = l.Reduce(hlo::kAdd, cofactors * l.Reshape(c.t[1], l.dims(a)), {1, 2});
  return {l.Reshape(sum, l.dims(c.x[0]))};
}

// The results are the sign and the logarithm of the determinant, or the logarithm alone.
Tangents OwnSlogdet(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op t = c.t.back(), a = c.x.back();
  Tangents all(c.x.size() - 1);
  if (Count(l.dims(a)) == 0) return all;
  const Op trace = InverseTrace(l, a, t);
  all.back() = RealType(l, trace);
  if (all.size() > 1 && hlo::IsComplex(l.type(trace))) {
    const Op imaginary = l.b.Unary(hlo::kImag, trace);
    const Op zero = l.Full(l.type(imaginary), l.dims(imaginary), 0);
    all[0] = c.x[0] * l.b.Binary(hlo::kComplex, zero, imaginary);
  }
  return all;
}

// A = Q R, where Q is [m, k] and R is [k, n]; after JAX's rule. The first k columns of a wide A determine Q.
QrOf QrTangents(Lowering& l, const QrOf& factors, Op t) {
  const Op q = factors.q, r = factors.r;
  const int64_t rank = RankOf(l, q), rows = l.dims(q)[rank - 2], kept = l.dims(q)[rank - 1],
                columns = l.dims(r)[rank - 1];
  if (kept > std::min(rows, columns)) {
    Refuse("a complete factorization of a tall matrix (%d x %d) has no derivative rule", rows, columns);
  }
  const Op first_r = SliceDim(l, r, rank - 1, 0, kept), first = SliceDim(l, t, rank - 1, 0, kept);
  const Op solved = SolvedTriangular(l, first_r, first, false, false, false);  // dA R^-1
  const Op inner = ProductOf(l, AdjointOf(l, q), solved);
  const Op lower = OnlyWhere(l, AtDiagonal(l, inner, Order::kGt), inner);
  Op turn = lower - AdjointOf(l, lower);
  if (hlo::IsComplex(l.type(q))) {  // The diagonal of R stays real.
    const Op diagonal = OnlyWhere(l, AtDiagonal(l, inner, Order::kEq), inner);
    const Op real = l.Convert(l.b.Unary(hlo::kReal, diagonal), l.type(q));
    turn = turn + diagonal - real;
  }
  const Op dq = ProductOf(l, q, turn - inner) + solved;
  Op dr = ProductOf(l, inner - turn, first_r);
  if (columns > kept) {  // Q R2 = A2, so dR2 = Q^H (dA2 - dQ R2).
    const Op rest =
        SliceDim(l, t, rank - 1, kept, columns) - ProductOf(l, dq, SliceDim(l, r, rank - 1, kept, columns));
    const Op parts[] = {dr, ProductOf(l, AdjointOf(l, q), rest)};
    dr = Joined(l, parts, rank - 1);
  }
  return {dq, dr};
}
Tangents OwnQr(const TangentArgs& c) {
  const QrOf tangents = QrTangents(c.l, {c.x[0], c.x[1]}, c.t[2]);
  return {tangents.q, tangents.r};
}

// A = U S V^H, all of them reduced, after JAX's rule: with D = U^H dA V and F_ij = 1 / (s_j^2 - s_i^2), dS is
// the diagonal of D, dU = U (F o (D S + S D^H)) and dV = V (F o (S D + D^H S)), plus the parts of dU and dV
// that are orthogonal to the columns of U and V. Vectors of equal values have no derivative.
SvdOf SvdTangents(Lowering& l, const SvdOf& factors, Op t) {
  const Op u = factors.u, s = factors.s, v = factors.v;
  const PrimitiveType type = l.type(u);
  const Op inner = ProductOf(l, ProductOf(l, AdjointOf(l, u), t), v);
  const Op real = RealType(l, inner);
  const auto wide = [&](Op x) { return l.Convert(x, type); };
  const Op across = wide(AlongRows(l, s, real)), down = wide(AlongColumns(l, s, real));
  const Op gaps = wide(Gaps(l, s * s, real));
  const auto hermitian = [&](Op x) { return x + AdjointOf(l, x); };
  const auto with_outside = [&](Op inside, Op whole, Op vectors) {
    const Dims& dims = l.dims(vectors);
    if (dims[dims.size() - 2] == dims.back()) return inside;
    const Op rest = whole - ProductOf(l, vectors, ProductOf(l, AdjointOf(l, vectors), whole));
    return inside + rest / wide(AlongRows(l, s, RealType(l, rest)));
  };
  Op of_u = gaps * hermitian(inner * across);
  if (hlo::IsComplex(type)) {  // A change of phase is attributed to U alone.
    const Op diagonal = OnlyWhere(l, AtDiagonal(l, inner, Order::kEq), inner);
    of_u = of_u + (diagonal - AdjointOf(l, diagonal)) * N(l, inner, 0.5) / across;
  }
  const Op du = with_outside(ProductOf(l, u, of_u), ProductOf(l, t, v), u);
  const Op of_v = gaps * hermitian(inner * down);
  const Op dv = with_outside(ProductOf(l, v, of_v), ProductOf(l, AdjointOf(l, t), u), v);
  return {du, DiagonalOf(l, real), dv};
}
// Complex columns of U and V may be rotated together: only results that do not depend on that rotation have a
// derivative.
Tangents OwnSvd(const TangentArgs& c) {
  const SvdOf tangents = SvdTangents(c.l, {c.x[0], c.x[1], c.x[2]}, c.t[3]);
  return {tangents.u, tangents.s, tangents.v};
}

// A V = V diag(w), dA Hermitian.
EighOf EighTangents(Lowering& l, const EighOf& factors, Op t) {
  const Op inner = ProductOf(l, AdjointOf(l, factors.v), ProductOf(l, t, factors.v));
  const Op gaps = l.Convert(Gaps(l, factors.w, inner), l.type(factors.v));
  return {RealType(l, DiagonalOf(l, inner)), ProductOf(l, factors.v, gaps * inner)};
}
// A is treated as Hermitian, whichever triangle was read, and its gradient is projected to Hermitian
// matrices, as in PyTorch.
Tangents OwnEigh(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op t = (c.t[2] + AdjointOf(l, c.t[2])) * l.Full(l.type(c.t[2]), l.dims(c.t[2]), 0.5);
  const EighOf tangents = EighTangents(l, {c.x[0], c.x[1]}, t);
  return {tangents.w, tangents.v};
}

// P = A^+: -P dA P + P P^H dA^H (1 - A P) + (1 - P A) dA^H P^H P.
Tangents OwnPinv(const TangentArgs& c) {
  Lowering& l = c.l;
  const Op p = c.x[0], a = c.x[1], t = c.t[1], adjoint = AdjointOf(l, t), p_adjoint = AdjointOf(l, p);
  const auto product = [&](Op x, Op y) { return ProductOf(l, x, y); };
  const Op outer = product(product(p, p_adjoint), adjoint), inner = product(adjoint, product(p_adjoint, p));
  return {outer - product(product(outer, a), p) + inner - product(p, product(a, inner)) -
          product(p, product(t, p))};
}

}  // namespace hlod::lazy
