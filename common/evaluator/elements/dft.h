// The discrete Fourier transform of one line of complex numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/evaluation.h"

namespace hlod::evaluator {

// Computes X[k] = sum_n x[n] exp(sign 2 pi i k n / length), unscaled, in O(length log length) for any length.
class Dft {
 public:
  Dft(int64_t length, int sign);
  ~Dft();

  // Transforms `x`, whose elements are `stride` apart, to `out`, which is dense and must not be x. Returns
  // the evaluation's error if it is interrupted.
  absl::Status Run(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out) const;

 private:
  class ByConvolution;

  // Returns exp(sign 2 pi i place / length).
  const Complex& Root(int64_t place) const { return roots_[static_cast<size_t>(place)]; }
  absl::Status Transform(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out,
                         int64_t length, int64_t root_step) const;

  const int64_t length_;
  std::vector<Complex> roots_;
  std::map<int64_t, std::unique_ptr<ByConvolution>> by_convolution_;  // For lengths with large prime factors.
};

}  // namespace hlod::evaluator
