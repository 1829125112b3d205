// The factors and roots of unity that a transform of one length needs.
//
// KissFFT, whose header would do for lengths with small factors, takes quadratic time for a prime factor,
// works on one line after the other without vectors, and keeps a buffer in the plan, so that threads cannot
// share it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hlod::engine::fft {

// The number of lines in a tile: the lanes of a vector of 32 bytes.
template <typename T>
inline constexpr int kLanes = 32 / static_cast<int>(sizeof(T));

// The largest prime factor with a pass of its own. A length with a larger one is computed as a convolution
// (Bluestein).
inline constexpr int kPrimeMax = 43;

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// Returns exp(-2 pi i k / n), correctly rounded except for the last bit.
template <typename T>
Complex<T> RootOfUnity(int64_t k, int64_t n);

// All roots exp(-2 pi i k / n) of a length, computed as products of entries of two tables, each as long as
// the square root of n.
template <typename T>
class Roots {
 public:
  explicit Roots(int64_t n);
  // REQUIRES: 0 <= k < n.
  Complex<T> operator[](int64_t k) const { return low_[k & mask_] * high_[k >> bits_]; }

 private:
  int bits_ = 0;
  int64_t mask_ = 0;
  std::vector<Complex<T>> low_, high_;
};

// One pass of a mixed-radix transform (Stockham's, whose result is in order): see kernels_impl.h.
template <typename T>
struct Pass {
  int64_t radix, m, stride;
  std::vector<Complex<T>> twiddles;  // radix - 1 twiddles for each of the m positions; empty if m is 1.
  std::vector<Complex<T>> roots;     // exp(-2 pi i k / radix), for a radix without its own butterfly.
};

// The passes that transform the lines of a tile.
template <typename T>
struct LinePlan {
  int64_t length = 0;
  // The number of elements that a line needs in the tile: more than `length` for a convolution.
  int64_t tile_length = 0;
  std::vector<Pass<T>> passes;
  // Used only if the length has a large prime factor. Then the passes are for tile_length; these are the
  // chirp, and the transform of the chirp's conjugate divided by tile_length.
  std::vector<Complex<T>> chirp, filter;
};
template <typename T>
LinePlan<T> MakeLinePlan(int64_t length);

// Returns the tile_length of a plan for `length`.
int64_t TileLength(int64_t length);

// Returns exp(-pi i k^2 / n) for successive k.
template <typename T>
class ChirpWalk {
 public:
  // REQUIRES: `roots` are the roots of unity of order 2 n.
  ChirpWalk(const Roots<T>& roots, int64_t n, int64_t k)
      : roots_(roots), period_(2 * n), k_(k), square_(k * k % period_) {}
  Complex<T> Next() {
    const Complex<T> value = roots_[square_];
    square_ += 2 * k_++ + 1;
    while (square_ >= period_) square_ -= period_;
    return value;
  }

 private:
  const Roots<T>& roots_;
  const int64_t period_;
  int64_t k_, square_;  // square_ is k_ squared modulo the period.
};

// Returns the smallest length that is at least n and has no prime factor above 5.
int64_t GoodLength(int64_t n);

}  // namespace hlod::engine::fft
