// Powers of floats: one definition for the evaluator and the tile functions.
#pragma once

#include <cmath>

namespace hlod::hlo {

// Returns base^exponent. x^0 and 1^y are 1, for any NaN, as IEEE 754 and C define it for quiet ones: glibc
// makes NaN of a signalling one, so that a result would depend on whether an operation before it has made the
// NaN quiet.
template <typename T>
inline T RealPower(T base, T exponent) {
  if (exponent == 0 || base == 1) return 1;
  return std::pow(base, exponent);
}

}  // namespace hlod::hlo
