// Powers of complex numbers: one definition for the evaluator and the tile functions.
#pragma once

#include <complex>
#include <limits>

namespace hlod::hlo {

// Returns z^w. When exp(w log z) is undefined it follows XLA: z^0 and 1^w are 1; 0^w is 0 for a positive w,
// else NaN.
inline std::complex<double> ComplexPower(std::complex<double> z, std::complex<double> w) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (w == 0.0 || z == 1.0) return 1.0;
  if (z == 0.0)
    return w.real() > 0 && w.imag() == 0 ? std::complex<double>(0) : std::complex<double>(kNan, kNan);
  return std::pow(z, w);
}

}  // namespace hlod::hlo
