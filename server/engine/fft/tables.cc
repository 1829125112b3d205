// Roots are computed in double and rounded once.
#include "server/engine/fft/tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "server/engine/fft/kernels.h"

namespace hlod::engine::fft {
namespace {

std::vector<int64_t> Factors(int64_t n) {
  std::vector<int64_t> factors;
  const auto divide = [&](int64_t p) {
    while (n % p == 0) {
      factors.push_back(p);
      n /= p;
    }
  };
  // Passes of radix 4 are the cheapest. One of radix 2 remains when the number of twos is odd.
  divide(4);
  divide(2);
  for (int64_t p = 3; p <= kPrimeMax; p += 2) divide(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

bool IsSmooth(int64_t n) {
  for (int64_t p = 2; p <= kPrimeMax; ++p) {
    while (n % p == 0) n /= p;
  }
  return n <= 1;
}

template <typename T>
std::vector<Pass<T>> MakePasses(int64_t n) {
  std::vector<Pass<T>> passes;
  int64_t left = n, stride = 1;
  for (const int64_t radix : Factors(n)) {
    Pass<T> pass{radix, left / radix, stride, {}, {}};
    if (pass.m > 1) {
      pass.twiddles.reserve(pass.m * (radix - 1));
      for (int64_t p = 0; p < pass.m; ++p) {
        for (int64_t k = 1; k < radix; ++k) pass.twiddles.push_back(RootOfUnity<T>(p * k, left));
      }
    }
    if (radix > 5) {
      for (int64_t k = 0; k < radix; ++k) pass.roots.push_back(RootOfUnity<T>(k, radix));
    }
    left /= radix;
    stride *= radix;
    passes.push_back(std::move(pass));
  }
  return passes;
}

}  // namespace

int64_t GoodLength(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t fives = 1; fives < best; fives *= 5) {
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t length = threes;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  }
  return best;
}

int64_t TileLength(int64_t length) { return IsSmooth(length) ? length : GoodLength(2 * length - 1); }

template <typename T>
Complex<T> RootOfUnity(int64_t k, int64_t n) {
  // Uses eighths of the circle, so that the angle is small and symmetric roots are equal.
  k = ((k % n) + n) % n;
  const int64_t eighth = 8 * k / n;
  const double step = 2 * std::numbers::pi / static_cast<double>(n);
  const auto angle = [&](int64_t j) { return step * static_cast<double>(j); };
  // Differences such as k - n / 4 are computed in fourths, so that they are integers.
  const auto quarter = [&](int64_t quarters) { return step * static_cast<double>(4 * k - quarters * n) / 4; };
  double c, s;  // The parts of exp(+i angle).
  switch (eighth) {
    case 0: c = std::cos(angle(k)), s = std::sin(angle(k)); break;
    case 1:
    case 2: c = -std::sin(quarter(1)), s = std::cos(quarter(1)); break;
    case 3:
    case 4: c = -std::cos(quarter(2)), s = -std::sin(quarter(2)); break;
    case 5:
    case 6: c = std::sin(quarter(3)), s = -std::cos(quarter(3)); break;
    default: c = std::cos(quarter(4)), s = std::sin(quarter(4)); break;
  }
  return {static_cast<T>(c), static_cast<T>(-s)};
}

template <typename T>
Roots<T>::Roots(int64_t n) {
  while ((int64_t{1} << (2 * bits_)) < n) ++bits_;
  const int64_t low = int64_t{1} << bits_;
  mask_ = low - 1;
  for (int64_t k = 0; k < low; ++k) low_.push_back(RootOfUnity<T>(k, n));
  for (int64_t k = 0; k <= (n - 1) >> bits_; ++k) high_.push_back(RootOfUnity<T>(k << bits_, n));
}

template <typename T>
LinePlan<T> MakeLinePlan(int64_t length) {
  LinePlan<T> plan;
  plan.length = length;
  plan.tile_length = TileLength(length);
  plan.passes = MakePasses<T>(plan.tile_length);
  if (plan.tile_length == length) return plan;
  const int64_t m = plan.tile_length;
  for (int64_t k = 0; k < length; ++k) plan.chirp.push_back(RootOfUnity<T>(k * k % (2 * length), 2 * length));
  // The filter is transformed as one line of a tile.
  constexpr int64_t kRow = 2 * kLanes<T>;
  std::vector<T> a(m * kRow), b(m * kRow);
  for (int64_t k = 0; k < length; ++k) {
    for (const int64_t at : {k, (m - k) % m}) {
      a[at * kRow] = plan.chirp[k].re;
      a[at * kRow + kLanes<T>] = -plan.chirp[k].im;
    }
  }
  const T* out = GetKernels<T>().passes(plan, a.data(), b.data());
  const T scale = T(1) / static_cast<T>(m);
  for (int64_t k = 0; k < m; ++k)
    plan.filter.push_back({out[k * kRow] * scale, out[k * kRow + kLanes<T>] * scale});
  return plan;
}

#define HLOD_FFT_TABLES(T)                           \
  template Complex<T> RootOfUnity(int64_t, int64_t); \
  template class Roots<T>;                           \
  template LinePlan<T> MakeLinePlan(int64_t);
HLOD_FFT_TABLES(float)
HLOD_FFT_TABLES(double)
#undef HLOD_FFT_TABLES

}  // namespace hlod::engine::fft
