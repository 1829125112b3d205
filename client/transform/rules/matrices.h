// Helpers for rules of matrices, which are the last two dimensions of arrays.
#pragma once

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/linalg/factorization.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod::lazy {

inline Op ConjugateOf(Lowering& l, Op x) {
  if (!hlo::IsComplex(l.type(x))) return x;
  return l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, x),
                    l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, x)));
}
inline Op TransposeOf(Lowering& l, Op x) {
  const int64_t rank = RankOf(l, x);
  return MovedDim(l, x, rank - 2, rank - 1);
}
inline Op AdjointOf(Lowering& l, Op x) { return ConjugateOf(l, TransposeOf(l, x)); }
inline Op ProductOf(Lowering& l, Op x, Op y) {
  const int64_t rank = RankOf(l, x);
  hlo::DotAttributes dot;
  for (int64_t dim = 0; dim < rank - 2; ++dim) {
    dot.lhs_batch.push_back(dim);
    dot.rhs_batch.push_back(dim);
  }
  dot.lhs_contracting = {rank - 1};
  dot.rhs_contracting = {rank - 2};
  return l.b.Dot(x, y, dot);
}

// Returns a pred array: true for the elements of x below (kGt), above (kLt) or on (kEq) the diagonal.
inline Op AtDiagonal(Lowering& l, Op x, Order order) {
  const Dims dims = l.dims(x);
  const int64_t rank = RankOf(l, x);
  return l.b.Compare(IndexIota(l, dims, rank - 2), IndexIota(l, dims, rank - 1), order);
}
inline Op OnlyWhere(Lowering& l, Op pred, Op x) { return SelectOps(l, pred, x, N(l, x, 0)); }
// Returns the diagonal as a vector.
inline Op DiagonalOf(Lowering& l, Op x) {
  const int64_t rank = RankOf(l, x), rows = l.dims(x)[rank - 2], columns = l.dims(x)[rank - 1];
  const Op only = OnlyWhere(l, AtDiagonal(l, x, Order::kEq), x);
  return SliceDim(l, l.Reduce(hlo::kAdd, only, {rank - 1}), rank - 2, 0, std::min(rows, columns));
}
// Repeats a vector to the shape of `like`: as every row, or as every column.
inline Op AlongRows(Lowering& l, Op vector, Op like) {
  Dims kept;
  const int64_t rank = RankOf(l, like);
  for (int64_t dim = 0; dim < rank - 2; ++dim) kept.push_back(dim);
  kept.push_back(rank - 1);
  return l.b.Broadcast(vector, l.dims(like), kept);
}
inline Op AlongColumns(Lowering& l, Op vector, Op like) {
  Dims kept;
  for (int64_t dim = 0; dim < RankOf(l, like) - 1; ++dim) kept.push_back(dim);
  return l.b.Broadcast(vector, l.dims(like), kept);
}

// The following functions return the tangents of the factors of A for its tangent dA, `t`.

// P A = L U, with L and U in one matrix.
Op LuTangent(Lowering& l, Op lu, Op permutation, Op t);
struct QrOf {
  Op q, r;
};
QrOf QrTangents(Lowering& l, const QrOf& factors, Op t);
struct SvdOf {
  Op u, s, v;
};
SvdOf SvdTangents(Lowering& l, const SvdOf& factors, Op t);
struct EighOf {
  Op w, v;
};
EighOf EighTangents(Lowering& l, const EighOf& factors, Op t);
// A = L L^H, with dA Hermitian.
Op CholeskyTangent(Lowering& l, Op factor, Op t);
// Returns the tangent of a triangular solve for the tangents of A and B, one of which may be absent.
Op TriangularSolveTangent(Lowering& l, const hlo::TriangularSolveAttributes& solve, Op a, Op result, Op da,
                          Op db);

}  // namespace hlod::lazy
