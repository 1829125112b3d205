// Functions of sampled signals, with the names and semantics of jax.numpy.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The part of a convolution that is kept. kFull: every overlap (n + m - 1 elements). kSame: as many elements
// as the longer signal. kValid: only where the shorter signal lies wholly inside the longer.
enum class ConvolveMode { kFull, kSame, kValid };
// The discrete convolution of two vectors, [k] = sum over i of a[i] * v[k - i]. Integers become f32.
// jax.numpy.convolve.
Tensor Convolve(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::kFull);
// The cross-correlation, [k] = sum over i of a[i + k] * conj(v[i]). jax.numpy.correlate.
Tensor Correlate(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::kValid);

struct InterpOptions {
  // The values for x below the first point and above the last; nullopt: the values at these points.
  std::optional<double> left = {}, right = {};
  // Extends the first and the last line there instead: JAX's left="extrapolate" and right="extrapolate".
  bool extrapolate_left = false, extrapolate_right = false;
  // The period of x: points are taken modulo it and sorted, and left and right are ignored.
  std::optional<double> period = {};
};
// Linear interpolation: the values at x of the lines through (points[i], values[i]), where points ascend.
// The first of equal points counts. Integers become f32. jax.numpy.interp.
Tensor Interp(const Operand& x, const Tensor& points, const Tensor& values,
              const InterpOptions& options = {});

}  // namespace hlod
