// Factorizations and solutions of small real matrices, for which a call of the library takes longer than the
// work. They return what LAPACK's routines of the same names do, up to rounding.
#pragma once

#include "common/lapack/frame.h"

namespace hlod::lapack {

// The sides up to which these are faster than the library.
inline constexpr Integer kSmallLu = 16, kSmallCholesky = 32, kSmallTriangle = 8, kSmallSides = 32;

template <typename T>
void SmallGetrf(Integer m, Integer n, T* a, Integer lda, Integer* pivots, Integer* info);

// A NaN in the triangle is found with the first minor that has it.
template <typename T>
void SmallPotrf(char uplo, Integer n, T* a, Integer lda, Integer* info);

// Overwrites b, of m x n, by the solution of op(a) x = b or x op(a) = b. REQUIRES: op(a) has at most
// kSmallTriangle rows.
template <typename T>
void SmallTrsm(char side, char uplo, char trans, char diag, Integer m, Integer n, const T* a, Integer lda,
               T* b, Integer ldb);

}  // namespace hlod::lapack
