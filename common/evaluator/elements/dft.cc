// A line whose length has a small prime factor p is transformed as p interleaved lines (Cooley and Tukey),
// whose transforms are combined by transforms of length p. A prime length is transformed by the definition if
// it is small, and otherwise as a convolution, by transforms of a power of two (Bluestein): with w = exp(sign
// pi i / length),
//
//   X[k] = w^(k k) sum_n (x[n] w^(n n)) w^(-(k - n)(k - n)),  for 2 k n = k k + n n - (k - n)(k - n).
#include "common/evaluator/elements/dft.h"

#include <cmath>
#include <numbers>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"

namespace hlod::evaluator {
namespace {

constexpr int64_t kSmallPrimeMax = 61;

// Returns exp(sign 2 pi i place / length) for each place.
std::vector<Complex> RootsOf(int64_t length, int sign) {
  std::vector<Complex> roots(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    const double turn = static_cast<double>(i) / static_cast<double>(length);
    roots[static_cast<size_t>(i)] = std::polar(1.0, sign * 2 * std::numbers::pi * turn);
  }
  return roots;
}

// Returns the smallest prime factor; the number itself when that is not a small prime.
int64_t SmallFactor(int64_t length) {
  for (int64_t p = 2; p <= kSmallPrimeMax && p * p <= length; ++p) {
    if (length % p == 0) return p;
  }
  for (int64_t p = 2; p <= kSmallPrimeMax; ++p) {
    if (length % p == 0) return p;
  }
  return length;
}

}  // namespace

class Dft::ByConvolution {
 public:
  ByConvolution(int64_t length, int sign) : length_(length), padded_(PaddedOf(length)) {
    // The exponent n n refers to a root of unity of order 2 length, so it is reduced modulo 2 length,
    // exactly.
    const std::vector<Complex> roots = RootsOf(2 * length, sign);
    chirp_.resize(static_cast<size_t>(length));
    int64_t square = 0;
    for (int64_t n = 0; n < length; ++n) {
      chirp_[static_cast<size_t>(n)] = roots[static_cast<size_t>(square)];
      square = (square + 2 * n + 1) % (2 * length);
    }
  }

  absl::Status Run(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out) const {
    const Dft forward(padded_, -1), backward(padded_, 1);
    RETURN_IF_ERROR(evaluation.Tick(40 * padded_));
    const auto size = static_cast<size_t>(padded_);
    std::vector<Complex> a(size), b(size), transformed_a(size), transformed_b(size);
    for (int64_t n = 0; n < length_; ++n) {
      const auto at = static_cast<size_t>(n);
      a[at] = Product(x[n * stride], chirp_[at]);
      b[at] = std::conj(chirp_[at]);
      if (n > 0) b[size - at] = b[at];
    }
    RETURN_IF_ERROR(forward.Run(evaluation, a.data(), 1, transformed_a.data()));
    RETURN_IF_ERROR(forward.Run(evaluation, b.data(), 1, transformed_b.data()));
    for (size_t i = 0; i < size; ++i) transformed_a[i] = Product(transformed_a[i], transformed_b[i]);
    RETURN_IF_ERROR(backward.Run(evaluation, transformed_a.data(), 1, a.data()));
    for (int64_t k = 0; k < length_; ++k) {
      const auto at = static_cast<size_t>(k);
      out[k] = Product(a[at], chirp_[at]) / static_cast<double>(padded_);
    }
    return absl::OkStatus();
  }

 private:
  static int64_t PaddedOf(int64_t length) {
    int64_t padded = 1;
    while (padded < 2 * length - 1) padded *= 2;
    return padded;
  }

  const int64_t length_, padded_;
  std::vector<Complex> chirp_;
};

Dft::Dft(int64_t length, int sign) : length_(length), roots_(RootsOf(length, sign)) {
  int64_t rest = length;
  while (rest > 1) {
    const int64_t factor = SmallFactor(rest);
    if (factor > kSmallPrimeMax) by_convolution_.emplace(rest, std::make_unique<ByConvolution>(rest, sign));
    rest /= factor;
  }
}
Dft::~Dft() = default;

absl::Status Dft::Run(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out) const {
  return Transform(evaluation, x, stride, out, length_, 1);
}

// The line's root of unity is that of the whole length to the power `root_step`.
absl::Status Dft::Transform(Evaluation& evaluation, const Complex* x, int64_t stride, Complex* out,
                            int64_t length, int64_t root_step) const {
  if (length <= 1) {
    if (length == 1) out[0] = x[0];
    return absl::OkStatus();
  }
  const int64_t p = SmallFactor(length), part = length / p;
  if (p > kSmallPrimeMax) return by_convolution_.at(length)->Run(evaluation, x, stride, out);
  for (int64_t q = 0; q < p; ++q) {
    RETURN_IF_ERROR(Transform(evaluation, x + q * stride, stride * p, out + q * part, part, root_step * p));
  }
  return evaluation.InBlocks(part, 4 * p * p, [&](int64_t begin, int64_t end) {
    Complex terms[kSmallPrimeMax];
    for (int64_t k = begin; k < end; ++k) {
      for (int64_t q = 0; q < p; ++q) terms[q] = Product(out[q * part + k], Root(q * k * root_step));
      for (int64_t r = 0; r < p; ++r) {
        Complex sum = terms[0];
        for (int64_t q = 1; q < p; ++q) sum += Product(terms[q], Root(q * r % p * part * root_step));
        out[r * part + k] = sum;
      }
    }
  });
}

}  // namespace hlod::evaluator
