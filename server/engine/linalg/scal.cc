// The multiplication of vectors by numbers, as the reference BLAS does it. OpenBLAS 0.3.21 returns zeros for
// the f32 factor NaN, and for NaN times zero, so that QR, Hessenberg and other factors lost NaN. LAPACK calls
// these functions in its place, as it does xerbla.cc's.
#include <complex>
#include <cstdint>

namespace {

template <typename T, typename Factor>
T Product(Factor factor, T value) {
  return factor * value;
}
// The operator of std::complex would make infinities of products that have NaN in the reference BLAS.
template <typename T>
std::complex<T> Product(std::complex<T> factor, std::complex<T> value) {
  return {factor.real() * value.real() - factor.imag() * value.imag(),
          factor.real() * value.imag() + factor.imag() * value.real()};
}

// Vectors with increments that are not positive are left alone, as by the reference BLAS.
template <typename T, typename Factor>
void Scale(int32_t count, Factor factor, T* x, int64_t increment) {
  if (increment <= 0) return;
  for (int64_t i = 0; i < count; ++i) x[i * increment] = Product(factor, x[i * increment]);
}

}  // namespace

#define HLOD_SCAL(name, Type, Factor)                                                                      \
  extern "C" [[gnu::visibility("default")]] void name(const int32_t* count, const Factor* factor, Type* x, \
                                                      const int32_t* increment);                           \
  void name(const int32_t* count, const Factor* factor, Type* x, const int32_t* increment) {               \
    Scale(*count, *factor, x, *increment);                                                                 \
  }
HLOD_SCAL(sscal_, float, float)
HLOD_SCAL(dscal_, double, double)
HLOD_SCAL(cscal_, std::complex<float>, std::complex<float>)
HLOD_SCAL(zscal_, std::complex<double>, std::complex<double>)
HLOD_SCAL(csscal_, std::complex<float>, float)
HLOD_SCAL(zdscal_, std::complex<double>, double)
#undef HLOD_SCAL
