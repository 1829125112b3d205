// Calls gemm. Fortran stores matrices by columns, so a row-major matrix is its transpose there: c^T = b^T
// a^T.
#include "common/lapack/product.h"

#include <algorithm>
#include <limits>

#include "common/lapack/frame.h"

namespace hlod::lapack {
namespace {

template <typename T>
bool AddProductOf(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c) {
  using I = Integer;
  using Gemm = void(const char*, const char*, const I*, const I*, const I*, const T*, const T*, const I*,
                    const T*, const I*, const T*, T*, const I*, size_t, size_t);
  static Gemm* const gemm = Find<T, Gemm>("gemm");
  if (gemm == nullptr || std::max({m, n, k}) > std::numeric_limits<I>::max()) return false;
  const I rows = static_cast<I>(n), columns = static_cast<I>(m), depth = static_cast<I>(k);
  const T one = 1;
  gemm("N", "N", &rows, &columns, &depth, &one, b, &rows, a, &depth, &one, c, &rows, 1, 1);
  return true;
}

}  // namespace

bool AddProduct(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c) {
  return AddProductOf(m, n, k, a, b, c);
}
bool AddProduct(int64_t m, int64_t n, int64_t k, const std::complex<double>* a, const std::complex<double>* b,
                std::complex<double>* c) {
  return AddProductOf(m, n, k, a, b, c);
}

}  // namespace hlod::lapack
