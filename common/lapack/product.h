// Matrix products by the BLAS that comes with LAPACK.
#pragma once

#include <complex>
#include <cstdint>

namespace hlod::lapack {

// Adds the product of a [m, k] and b [k, n] to c [m, n]; all are dense and row-major, and no size is 0.
// Returns false, and leaves c unchanged, when there is no BLAS or a size exceeds its 32 bits.
bool AddProduct(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);
bool AddProduct(int64_t m, int64_t n, int64_t k, const std::complex<double>* a, const std::complex<double>* b,
                std::complex<double>* c);

}  // namespace hlod::lapack
