// Unblocked algorithms whose inner loops run down the columns, and are vectorised.
#include "common/lapack/small.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hlod::lapack {
namespace {

using I = Integer;

// Subtracts factor * from from `to`.
template <typename T>
void SubtractMultiple(I n, T factor, const T* from, T* to) {
#pragma GCC ivdep
  for (I i = 0; i < n; ++i) to[i] -= factor * from[i];
}

template <typename T>
void DivideAll(I n, T divisor, T* values) {
#pragma GCC ivdep
  for (I i = 0; i < n; ++i) values[i] /= divisor;
}

// Factors a lower triangle. Returns the order of the first minor that is not positive, or 0.
template <typename T>
I FactorLower(I n, T* a, I lda) {
  for (I k = 0; k < n; ++k) {
    T* const column = a + k * lda;
    if (!(column[k] > 0)) return k + 1;
    column[k] = std::sqrt(column[k]);
    DivideAll(n - k - 1, column[k], column + k + 1);
    for (I j = k + 1; j < n; ++j) SubtractMultiple(n - j, column[j], column + j, a + j * lda + j);
  }
  return 0;
}

// A triangular matrix, column by column.
template <typename T>
struct Triangle {
  // Leaves the values unset: to clear all would take longer than to solve for a few.
  Triangle(I order, bool is_lower, bool is_unit) : n(order), lower(is_lower), unit(is_unit) {}

  const I n;
  const bool lower, unit;
  T values[kSmallTriangle * kSmallTriangle];  // Others than the triangle's are not used.

  T At(I row, I column) const { return values[column * n + row]; }

  void SolveLeft(T* x) const {
    for (I step = 0; step < n; ++step) {
      const I k = lower ? step : n - 1 - step;
      if (!unit) x[k] /= At(k, k);
      const I first = lower ? k + 1 : 0;
      SubtractMultiple(lower ? n - k - 1 : k, x[k], values + k * n + first, x + first);
    }
  }
  void SolveRight(I rows, T* x, I ldx) const {
    for (I step = 0; step < n; ++step) {
      const I k = lower ? n - 1 - step : step;
      T* const column = x + k * ldx;
      for (I j = lower ? k + 1 : 0; j < (lower ? n : k); ++j)
        SubtractMultiple(rows, At(j, k), x + j * ldx, column);
      if (!unit) DivideAll(rows, At(k, k), column);
    }
  }
};

}  // namespace

template <typename T>
void SmallGetrf(I m, I n, T* a, I lda, I* pivots, I* info) {
  *info = 0;
  for (I k = 0; k < std::min(m, n); ++k) {
    T* const column = a + k * lda;
    I pivot = k;
    for (I i = k + 1; i < m; ++i) pivot = std::abs(column[i]) > std::abs(column[pivot]) ? i : pivot;
    pivots[k] = pivot + 1;
    if (column[pivot] == 0) {
      if (*info == 0) *info = k + 1;
      continue;
    }
    if (pivot != k) {
      for (I j = 0; j < n; ++j) std::swap(a[j * lda + k], a[j * lda + pivot]);
    }
    DivideAll(m - k - 1, column[k], column + k + 1);
    for (I j = k + 1; j < n; ++j)
      SubtractMultiple(m - k - 1, a[j * lda + k], column + k + 1, a + j * lda + k + 1);
  }
}

template <typename T>
void SmallPotrf(char uplo, I n, T* a, I lda, I* info) {
  if (uplo == 'L') {
    *info = FactorLower(n, a, lda);
    return;
  }
  T lower[kSmallCholesky * kSmallCholesky];
  for (I column = 0; column < n; ++column) {
    for (I row = column; row < n; ++row) lower[column * n + row] = a[row * lda + column];
  }
  *info = FactorLower(n, lower, n);
  for (I column = 0; column < n; ++column) {
    for (I row = column; row < n; ++row) a[row * lda + column] = lower[column * n + row];
  }
}

template <typename T>
void SmallTrsm(char side, char uplo, char trans, char diag, I m, I n, const T* a, I lda, T* b, I ldb) {
  const bool transposed = trans != 'N', left = side == 'L';
  Triangle<T> triangle(left ? m : n, (uplo == 'L') != transposed, diag == 'U');
  for (I column = 0; column < triangle.n; ++column) {
    for (I row = 0; row < triangle.n; ++row)
      triangle.values[column * triangle.n + row] = transposed ? a[row * lda + column] : a[column * lda + row];
  }
  if (!left) return triangle.SolveRight(m, b, ldb);
  for (I column = 0; column < n; ++column) triangle.SolveLeft(b + column * ldb);
}

template void SmallGetrf(I, I, float*, I, I*, I*);
template void SmallGetrf(I, I, double*, I, I*, I*);
template void SmallPotrf(char, I, float*, I, I*);
template void SmallPotrf(char, I, double*, I, I*);
template void SmallTrsm(char, char, char, char, I, I, const float*, I, float*, I);
template void SmallTrsm(char, char, char, char, I, I, const double*, I, double*, I);

}  // namespace hlod::lapack
