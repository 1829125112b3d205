// What a transform of one length needs to know beforehand: its factors and roots of unity.
//
// KissFFT, whose header would do for lengths of small factors, takes the square of a prime factor's time,
// works on one line after the other without vectors, and keeps a buffer in the plan, so that threads cannot
// share it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hlod::engine::fft {

// Lines of a tile: as many as a vector of 32 bytes has lanes.
template <typename T>
inline constexpr int kLanes = 32 / static_cast<int>(sizeof(T));

// A prime up to which a factor is a pass of its own; a length with a larger one is a convolution (Bluestein).
inline constexpr int kPrimeMax = 43;

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// exp(-2 pi i k / n), correctly rounded but for the last bit.
template <typename T>
Complex<T> RootOfUnity(int64_t k, int64_t n);

// All roots exp(-2 pi i k / n) of a length, as products of two out of tables as long as its square root.
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

// One pass of a mixed-radix transform (Stockham's, so that the result lies in order): see kernels_impl.h.
template <typename T>
struct Pass {
  int64_t radix, m, stride;
  std::vector<Complex<T>> twiddles;  // radix - 1 for each of m; none when m is 1.
  std::vector<Complex<T>> roots;     // Of a radix without code of its own: exp(-2 pi i k / radix).
};

// How the lines of a tile are transformed.
template <typename T>
struct LinePlan {
  int64_t length = 0;
  int64_t tile_length = 0;  // Elements that a line needs in the tile: more than `length` for a convolution.
  std::vector<Pass<T>> passes;
  // Only where the length has a large prime factor: passes are of tile_length, and these are the chirp, and
  // the transform of the chirp's conjugate, divided by tile_length.
  std::vector<Complex<T>> chirp, filter;
};
template <typename T>
LinePlan<T> MakeLinePlan(int64_t length);

// The tile_length of a plan for `length`.
int64_t TileLength(int64_t length);

// exp(-pi i k^2 / n) for one k after the other.
template <typename T>
class ChirpWalk {
 public:
  // `roots` are those of 2 n.
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
  int64_t k_, square_;  // The square modulo the period.
};

// The smallest length that is not smaller and has no prime factor above 5.
int64_t GoodLength(int64_t n);

}  // namespace hlod::engine::fft
