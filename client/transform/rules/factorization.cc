// Derivatives of cholesky and triangular-solve, after JAX's linalg. A gradient of cholesky is symmetric, as
// in PyTorch.
#include "client/transform/autodiff/rules.h"
#include "client/transform/rules/matrices.h"

namespace hlod::lazy {
namespace {

constexpr auto kNot = static_cast<uint8_t>(Transposition::kNo),
               kTranspose = static_cast<uint8_t>(Transposition::kTranspose),
               kAdjoint = static_cast<uint8_t>(Transposition::kAdjoint);

// Returns a triangle of x, with zeros elsewhere and the diagonal times `diagonal`.
Op Triangle(Lowering& l, Op x, bool lower, double diagonal) {
  const Dims dims = l.dims(x);
  const int64_t rank = RankOf(l, x);
  const Op row = IndexIota(l, dims, rank - 2), column = IndexIota(l, dims, rank - 1);
  const Op zero = l.Full(l.type(x), dims, 0);
  const Op strict = l.b.Select(l.b.Compare(row, column, lower ? Order::kGt : Order::kLt), x, zero);
  if (diagonal == 0) return strict;
  const Op scaled = diagonal == 1 ? x : x * l.Full(l.type(x), dims, diagonal);
  return l.b.Select(l.b.Compare(row, column, Order::kEq), scaled, strict);
}

Op Solve(Lowering& l, Op a, Op b, const hlo::TriangularSolveAttributes& solve) {
  return SolvedTriangular(l, a, b, solve.left_side, solve.lower, solve.unit_diagonal,
                          static_cast<Transposition>(solve.transpose_a));
}

Tangents TriangularSolve(const TangentArgs& c) {
  return {TriangularSolveTangent(c.l, c.Get<hlo::TriangularSolveAttributes>(), c.x[0], c.y, c.t[0], c.t[1])};
}

// The instruction is linear in B: its cotangent is a solve with the transposed matrix.
Cotangents TTriangularSolve(const TransposeArgs& c) {
  hlo::TriangularSolveAttributes solve = c.Get<hlo::TriangularSolveAttributes>();
  Op a = c.x[0];
  if (solve.transpose_a == kAdjoint) a = ConjugateOf(c.l, a);
  solve.transpose_a = solve.transpose_a == kNot ? kTranspose : kNot;
  return {Op{}, Solve(c.l, a, c.ct, solve)};
}

Tangents Cholesky(const TangentArgs& c) {
  Lowering& l = c.l;
  const bool lower = c.Get<hlo::CholeskyAttributes>().lower;
  const Op half = l.Full(l.type(c.y), l.dims(c.y), 0.5);
  const Op factor = Triangle(l, lower ? c.y : AdjointOf(l, c.y), true, 1);
  const Op tangent = CholeskyTangent(l, factor, (c.t[0] + AdjointOf(l, c.t[0])) * half);
  return {lower ? tangent : AdjointOf(l, tangent)};
}

}  // namespace

// op(A) X = B implies op(A) dX = dB - op(dA) X; likewise for X op(A) = B.
Op TriangularSolveTangent(Lowering& l, const hlo::TriangularSolveAttributes& solve, Op a, Op result, Op da,
                          Op db) {
  Op rest = db;
  if (!IsZero(da)) {
    da = Triangle(l, da, solve.lower, solve.unit_diagonal ? 0 : 1);
    if (solve.transpose_a != kNot) da = TransposeOf(l, da);
    if (solve.transpose_a == kAdjoint) da = ConjugateOf(l, da);
    const Op product = solve.left_side ? ProductOf(l, da, result) : ProductOf(l, result, da);
    rest = SumOf(l, rest, l.b.Unary(hlo::kNegate, product));
  }
  return Solve(l, a, rest, solve);
}

// dL = L phi(L^-1 dA L^-H), where phi keeps the lower triangle and halves the diagonal.
Op CholeskyTangent(Lowering& l, Op factor, Op t) {
  const Op right = Solve(l, factor, t, {false, true, false, kAdjoint});
  const Op both = Solve(l, factor, right, {true, true, false, kNot});
  return ProductOf(l, factor, Triangle(l, both, true, 0.5));
}

void AddFactorizationRules(Rules& rules) {
  rules.tangent[static_cast<size_t>(hlo::kCholesky)] = Cholesky;
  rules.tangent[static_cast<size_t>(hlo::kTriangularSolve)] = TriangularSolve;
  rules.transpose[static_cast<size_t>(hlo::kTriangularSolve)] = TTriangularSolve;
}

}  // namespace hlod::lazy
