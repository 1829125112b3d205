// Functions of sampled signals, in the names and semantics of jax.numpy.
#pragma once

#include <optional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The part of a convolution that is kept: every overlap (n + m - 1 elements), as many as the longer signal,
// those where the shorter one lies wholly inside.
enum class ConvolveMode { kFull, kSame, kValid };
// The discrete convolution of two vectors, [k] = sum over i of a[i] * v[k - i]. Integers become f32.
// jax.numpy.convolve.
Tensor Convolve(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::kFull);
// The cross-correlation, [k] = sum over i of a[i + k] * conj(v[i]). jax.numpy.correlate.
Tensor Correlate(const Operand& a, const Operand& v, ConvolveMode mode = ConvolveMode::kValid);

struct InterpOptions {
  // The values below the first point and above the last; nullopt: the first and the last value.
  std::optional<double> left = {}, right = {};
  // The points are taken modulo this and sorted, and left and right are not used.
  std::optional<double> period = {};
};
// The values at x of the lines between the points (points[i], values[i]), whose abscissas ascend; between two
// that are equal the lower one's value. Integers become f32. jax.numpy.interp.
Tensor Interp(const Operand& x, const Tensor& points, const Tensor& values,
              const InterpOptions& options = {});

}  // namespace hlod
