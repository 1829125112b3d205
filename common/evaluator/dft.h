// The discrete Fourier transform of one line of complex numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/evaluator/evaluation.h"
#include "common/evaluator/wide.h"

namespace hlod::evaluator {

// X[k] = sum_n x[n] exp(sign 2 pi i k n / length), unscaled, in O(length log length) for any length.
class Dft {
 public:
  Dft(int64_t length, int sign);
  ~Dft();

  // `x`: elements `stride` apart. `out`: dense, not x. The evaluation's verdict when it is interrupted.
  absl::Status Run(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out) const;

 private:
  class ByConvolution;

  // exp(sign 2 pi i place / length).
  const Complex& Root(int64_t place) const { return roots_[static_cast<size_t>(place)]; }
  absl::Status Transform(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out,
                         int64_t length, int64_t root_step) const;

  const int64_t length_;
  std::vector<Complex> roots_;
  std::map<int64_t, std::unique_ptr<ByConvolution>> by_convolution_;  // Of lengths with large prime factors.
};

}  // namespace hlod::evaluator
