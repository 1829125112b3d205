// Factorizations of matrices: of [batch, rows, columns].
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// x as [batch, rows, columns]. Refuses anything but matrices of floating or complex numbers.
Op AsBatch(Lowering& l, Op x);
void RequireSquare(Lowering& l, Op x);

struct LuOps {
  Op lu;           // L below the diagonal and U.
  Op pivots;       // [batch, min(rows, columns)], s64, from 0.
  Op permutation;  // [batch, rows], s64: row i of P^T x is row permutation[i] of x.
};
// Not differentiable: for those that have a derivative of their own.
LuOps Decomposed(Lowering& l, Op x, bool differentiable = true);
// The permutation that a sequence of exchanges makes of `rows` rows.
Op PermutationOf(Lowering& l, Op pivots, int64_t rows);
// The inverse of each permutation.
Op InversePermutation(Lowering& l, Op permutation);
// Rows of [batch, rows, columns] by [batch, n].
Op TakeRows(Lowering& l, Op x, Op index);

enum class Transposed : uint8_t { kNo = 1, kTranspose = 2, kAdjoint = 3 };  // XLA's wire numbers.
Op SolvedTriangular(Lowering& l, Op a, Op b, bool left, bool lower, bool unit,
                    Transposed transposed = Transposed::kNo);

// x with Householder's reflections as LAPACK's geqrf has them: R, below its diagonal the vectors; tau is
// [batch, min(rows, columns)]. x has elements.
struct ReflectionOps {
  Op r, tau;
};
ReflectionOps HouseholderForm(Lowering& l, Op x);
// Householder's reflections: the first `kept` columns of Q, the smaller side at least, and R [batch, rows,
// columns].
struct QrOps {
  Op q, r;
};
QrOps Reflected(Lowering& l, Op x, int64_t kept);
// The first columns of the product of the reflections that x's columns, at most its rows, and tau describe.
Op ReflectionProduct(Lowering& l, Op x, Op tau);

Op Identity(Lowering& l, PrimitiveType type, int64_t batch, int64_t n);

}  // namespace hlod::lazy
