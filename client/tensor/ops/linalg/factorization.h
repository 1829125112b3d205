// Factorizations of batches of matrices, [batch, rows, columns].
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns x as [batch, rows, columns]. Refuses x unless it is matrices of floating or complex numbers.
Op AsBatch(Lowering& l, Op x);
void RequireSquare(Lowering& l, Op x);

struct LuOps {
  Op lu;           // L below the diagonal, U on and above it.
  Op pivots;       // [batch, min(rows, columns)], s64, counted from 0.
  Op permutation;  // [batch, rows], s64: row i of P^T x is row permutation[i] of x.
};
// The LU factorization. With `differentiable` false it has no derivative rule, for callers that have their
// own.
LuOps Decomposed(Lowering& l, Op x, bool differentiable = true);
// Returns the permutation of `rows` rows that a sequence of exchanges (`pivots`) makes.
Op PermutationOf(Lowering& l, Op pivots, int64_t rows);
// Returns the inverse of each permutation.
Op InversePermutation(Lowering& l, Op permutation);
// Returns the rows of x [batch, rows, columns] that `index` [batch, n] names.
Op TakeRows(Lowering& l, Op x, Op index);

// The numbers are those of XLA's wire format.
enum class Transposition : uint8_t { kNo = 1, kTranspose = 2, kAdjoint = 3 };
Op SolvedTriangular(Lowering& l, Op a, Op b, bool left, bool lower, bool unit,
                    Transposition transposed = Transposition::kNo);
// Returns X of L U X = b, where L (with ones on its diagonal) and U are the triangles of `lu`.
Op SolvedByFactors(Lowering& l, Op lu, Op b);

// The QR factorization in the form of LAPACK's geqrf: R on and above the diagonal, the vectors of the
// Householder reflections below it. tau is [batch, min(rows, columns)]. REQUIRES: x has elements.
struct ReflectionOps {
  Op r, tau;
};
ReflectionOps HouseholderForm(Lowering& l, Op x);
// The QR factorization by Householder reflections: the first `kept` columns of Q (at least min(rows,
// columns)), and R [batch, rows, columns].
struct QrOps {
  Op q, r;
};
QrOps Reflected(Lowering& l, Op x, int64_t kept);
// Returns the first columns of the product of the reflections in x and tau, as many as x has columns.
// REQUIRES: x does not have more columns than rows.
Op ReflectionProduct(Lowering& l, Op x, Op tau);

Op Identity(Lowering& l, PrimitiveType type, int64_t batch, int64_t n);

}  // namespace hlod::lazy
