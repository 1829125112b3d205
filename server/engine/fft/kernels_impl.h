// The operations on tiles for one instruction set. Included by kernels_<set>.cc, which defines HLOD_FFT_SET
// (a namespace) and HLOD_FFT_TARGET (the function attribute, possibly empty). The sets do not share functions
// here, because the linker must not keep a function compiled for AVX-512 for all of them.
//
// Stockham's transform of n = r m elements that lie `stride` apart, in groups q < stride, works as follows.
// For each p < m, a butterfly of radix r transforms the elements p + m j (j < r). Its output k is multiplied
// by exp(-2 pi i p k / n) and stored at r p + k. Then transforms of length m remain, whose elements lie r
// `stride` apart.
#include <cstdint>
#include <cstring>
#include <utility>

#include "server/engine/fft/kernels.h"

#define HLOD_FFT_LAMBDA HLOD_FFT_TARGET __attribute__((always_inline))
#define HLOD_FFT_INLINE HLOD_FFT_TARGET inline __attribute__((always_inline))

namespace hlod::engine::fft {
namespace {
namespace HLOD_FFT_SET {

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(32)));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

// The same element of all lines.
template <typename T>
struct Row {
  Vector<T> re, im;
};

// Loads and stores of vectors at any address. (With memcpy, GCC moves a vector in halves through the stack.)
template <typename T>
HLOD_FFT_INLINE Vector<T> LoadVector(const T* from) {
  typedef T Loose __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
  return *reinterpret_cast<const Loose*>(from);
}
template <typename T>
HLOD_FFT_INLINE void StoreVector(T* to, Vector<T> vector) {
  typedef T Loose __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
  *reinterpret_cast<Loose*>(to) = vector;
}

template <typename T>
HLOD_FFT_INLINE Row<T> Get(const T* tile, int64_t element) {
  const T* const at = tile + element * 2 * kLanes<T>;
  return {LoadVector(at), LoadVector(at + kLanes<T>)};
}
template <typename T>
HLOD_FFT_INLINE void Put(T* tile, int64_t element, const Row<T>& row) {
  T* const at = tile + element * 2 * kLanes<T>;
  StoreVector(at, row.re);
  StoreVector(at + kLanes<T>, row.im);
}

template <typename T>
HLOD_FFT_INLINE Row<T> Add(const Row<T>& a, const Row<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename T>
HLOD_FFT_INLINE Row<T> Subtract(const Row<T>& a, const Row<T>& b) {
  return {a.re - b.re, a.im - b.im};
}
// Return a - i b and a + i b.
template <typename T>
HLOD_FFT_INLINE Row<T> SubtractTurned(const Row<T>& a, const Row<T>& b) {
  return {a.re + b.im, a.im - b.re};
}
template <typename T>
HLOD_FFT_INLINE Row<T> AddTurned(const Row<T>& a, const Row<T>& b) {
  return {a.re - b.im, a.im + b.re};
}
template <typename T>
HLOD_FFT_INLINE Row<T> Multiply(const Row<T>& a, Complex<T> w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}
// Returns x + a y + b z.
template <typename T>
HLOD_FFT_INLINE Row<T> Sum(const Row<T>& x, T a, const Row<T>& y, T b, const Row<T>& z) {
  return {x.re + a * y.re + b * z.re, x.im + a * y.im + b * z.im};
}

template <typename T>
HLOD_FFT_INLINE void Butterfly2(Row<T>* x) {
  const Row<T> a = x[0], b = x[1];
  x[0] = Add(a, b), x[1] = Subtract(a, b);
}
template <typename T>
HLOD_FFT_INLINE void Butterfly3(Row<T>* x) {
  const T kSine = static_cast<T>(0.866025403784438646763723170752936);
  const Row<T> sum = Add(x[1], x[2]), difference = Subtract(x[1], x[2]);
  const Row<T> middle = {x[0].re - T(0.5) * sum.re, x[0].im - T(0.5) * sum.im};
  const Row<T> turned = {kSine * difference.re, kSine * difference.im};
  x[0] = Add(x[0], sum);
  x[1] = SubtractTurned(middle, turned), x[2] = AddTurned(middle, turned);
}
template <typename T>
HLOD_FFT_INLINE void Butterfly4(Row<T>* x) {
  const Row<T> a = Add(x[0], x[2]), b = Subtract(x[0], x[2]), c = Add(x[1], x[3]), d = Subtract(x[1], x[3]);
  x[0] = Add(a, c), x[2] = Subtract(a, c);
  x[1] = SubtractTurned(b, d), x[3] = AddTurned(b, d);
}
template <typename T>
HLOD_FFT_INLINE void Butterfly5(Row<T>* x) {
  const T c1 = static_cast<T>(0.309016994374947424102293417182819),
          c2 = static_cast<T>(-0.809016994374947424102293417182819),
          s1 = static_cast<T>(0.951056516295153572116439333379382),
          s2 = static_cast<T>(0.587785252292473129168705954639073);
  const Row<T> a = Add(x[1], x[4]), b = Add(x[2], x[3]), c = Subtract(x[1], x[4]), d = Subtract(x[2], x[3]);
  const Row<T> m1 = Sum(x[0], c1, a, c2, b), m2 = Sum(x[0], c2, a, c1, b);
  const Row<T> n1 = {s1 * c.re + s2 * d.re, s1 * c.im + s2 * d.im},
               n2 = {s2 * c.re - s1 * d.re, s2 * c.im - s1 * d.im};
  x[0] = Add(x[0], Add(a, b));
  x[1] = SubtractTurned(m1, n1), x[4] = AddTurned(m1, n1);
  x[2] = SubtractTurned(m2, n2), x[3] = AddTurned(m2, n2);
}

template <typename T, int kRadix>
HLOD_FFT_INLINE void Butterfly(Row<T>* x) {
  if constexpr (kRadix == 2) Butterfly2(x);
  if constexpr (kRadix == 3) Butterfly3(x);
  if constexpr (kRadix == 4) Butterfly4(x);
  if constexpr (kRadix == 5) Butterfly5(x);
}

template <typename T, int kRadix>
HLOD_FFT_TARGET void RunPass(const Pass<T>& pass, const T* from, T* to) {
  const int64_t m = pass.m, stride = pass.stride;
  const auto butterfly = [&](int64_t p, int64_t q, Row<T>* x) HLOD_FFT_LAMBDA {
#pragma GCC unroll 8
    for (int j = 0; j < kRadix; ++j) x[j] = Get(from, q + stride * (p + m * j));
    Butterfly<T, kRadix>(x);
  };
  Row<T> x[kRadix];
  for (int64_t q = 0; q < stride; ++q) {
    butterfly(0, q, x);
#pragma GCC unroll 8
    for (int k = 0; k < kRadix; ++k) Put(to, q + stride * k, x[k]);
  }
  for (int64_t p = 1; p < m; ++p) {
    Complex<T> w[kRadix];
#pragma GCC unroll 8
    for (int k = 1; k < kRadix; ++k) w[k] = pass.twiddles[p * (kRadix - 1) + k - 1];
    for (int64_t q = 0; q < stride; ++q) {
      butterfly(p, q, x);
      Put(to, q + stride * kRadix * p, x[0]);
#pragma GCC unroll 8
      for (int k = 1; k < kRadix; ++k) Put(to, q + stride * (kRadix * p + k), Multiply(x[k], w[k]));
    }
  }
}

// Runs a pass of a prime radix without its own butterfly. Computes outputs k and r - k together, from sums
// and differences of the inputs j and r - j.
template <typename T>
HLOD_FFT_TARGET void RunPassOfAnyRadix(const Pass<T>& pass, const T* from, T* to) {
  const int radix = static_cast<int>(pass.radix), half = radix / 2;
  Row<T> sums[kPrimeMax / 2 + 1], differences[kPrimeMax / 2 + 1];
  for (int64_t p = 0; p < pass.m; ++p) {
    const Complex<T>* const w = pass.m > 1 ? pass.twiddles.data() + p * (radix - 1) - 1 : nullptr;
    for (int64_t q = 0; q < pass.stride; ++q) {
      const auto in = [&](int j) HLOD_FFT_LAMBDA { return Get(from, q + pass.stride * (p + pass.m * j)); };
      const auto out = [&](int k, const Row<T>& value) HLOD_FFT_LAMBDA {
        Put(to, q + pass.stride * (radix * p + k), w != nullptr && k > 0 ? Multiply(value, w[k]) : value);
      };
      const Row<T> first = in(0);
      Row<T> total = first;
      for (int j = 1; j <= half; ++j) {
        const Row<T> a = in(j), b = in(radix - j);
        sums[j] = Add(a, b), differences[j] = Subtract(a, b);
        total = Add(total, sums[j]);
      }
      out(0, total);
      for (int k = 1; k <= half; ++k) {
        Row<T> even = first, odd = {};
        int root = 0;
        for (int j = 1; j <= half; ++j) {
          if ((root += k) >= radix) root -= radix;
          const T cosine = pass.roots[root].re, sine = -pass.roots[root].im;
          even.re += cosine * sums[j].re, even.im += cosine * sums[j].im;
          odd.re += sine * differences[j].re, odd.im += sine * differences[j].im;
        }
        out(k, SubtractTurned(even, odd));
        out(radix - k, AddTurned(even, odd));
      }
    }
  }
}

template <typename T>
HLOD_FFT_TARGET T* RunPasses(const LinePlan<T>& plan, T* a, T* b) {
  for (const Pass<T>& pass : plan.passes) {
    switch (pass.radix) {
      case 2: RunPass<T, 2>(pass, a, b); break;
      case 3: RunPass<T, 3>(pass, a, b); break;
      case 4: RunPass<T, 4>(pass, a, b); break;
      case 5: RunPass<T, 5>(pass, a, b); break;
      default: RunPassOfAnyRadix(pass, a, b);
    }
    std::swap(a, b);
  }
  return a;
}

// The number of elements of a line that are moved before those of the next line. This many rows of the tile
// stay in the L1 cache.
inline constexpr int64_t kBlock = 16;

// Transposes a square of numbers, one vector per row.
HLOD_FFT_INLINE void Transpose(Vector<float>* v) {
  Vector<float> a[8], b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    const int i = k + (k & 2);  // 0, 1, 4, 5.
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 2] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
HLOD_FFT_INLINE void Transpose(Vector<double>* v) {
  const Vector<double> a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
                       b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7),
                       c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
                       d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

// Splits the pairs in two vectors into all first numbers and all second ones. Join is the inverse.
HLOD_FFT_INLINE Row<float> Split(Vector<float> a, Vector<float> b) {
  return {__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
          __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)};
}
HLOD_FFT_INLINE Row<double> Split(Vector<double> a, Vector<double> b) {
  return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
}
HLOD_FFT_INLINE Row<float> Join(Vector<float> a, Vector<float> b) {
  return {__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11),
          __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)};
}
HLOD_FFT_INLINE Row<double> Join(Vector<double> a, Vector<double> b) {
  return {__builtin_shufflevector(a, b, 0, 4, 1, 5), __builtin_shufflevector(a, b, 2, 6, 3, 7)};
}

template <typename T>
HLOD_FFT_INLINE void Exchange(Row<T>& row, bool exchange) {
  if (exchange) std::swap(row.re, row.im);
}

// Loads elements [begin, end), one number at a time.
template <typename T>
HLOD_FFT_TARGET void LoadEach(const TileMemory<T>& from, int64_t begin, int64_t end, int lanes, T* tile) {
  constexpr int64_t kRow = 2 * kLanes<T>;
  const int re = from.exchanged ? kLanes<T> : 0, im = from.exchanged ? 0 : kLanes<T>;
  for (; begin < end; begin += kBlock) {
    const int64_t stop = end - begin > kBlock ? begin + kBlock : end;
    for (int l = 0; l < lanes; ++l) {
      const T* const x = from.data + 2 * l * from.lane_stride;
      for (int64_t e = begin; e < stop; ++e) {
        tile[e * kRow + re + l] = x[2 * e * from.element_stride];
        tile[e * kRow + im + l] = x[2 * e * from.element_stride + 1];
      }
    }
  }
}

template <typename T>
HLOD_FFT_TARGET void Load(const TileMemory<T>& from, int64_t n, int lanes, T* tile) {
  constexpr int64_t kRow = 2 * kLanes<T>;
  int64_t done = 0;
  if (lanes < kLanes<T>) {
    std::memset(tile, 0, n * kRow * sizeof(T));
  } else if (from.lane_stride == 1) {
    for (; done < n; ++done) {
      Vector<T> pairs[2];
      const T* const at = from.data + 2 * done * from.element_stride;
      pairs[0] = LoadVector(at), pairs[1] = LoadVector(at + kLanes<T>);
      Row<T> row = Split(pairs[0], pairs[1]);
      Exchange(row, from.exchanged);
      Put(tile, done, row);
    }
  } else if (from.element_stride == 1) {
    // A vector holds one element of a line per two numbers.
    for (; done + kLanes<T> / 2 <= n; done += kLanes<T> / 2) {
      Vector<T> v[kLanes<T>];
#pragma GCC unroll 8
      for (int l = 0; l < kLanes<T>; ++l) v[l] = LoadVector(from.data + 2 * (l * from.lane_stride + done));
      Transpose(v);
#pragma GCC unroll 4
      for (int e = 0; e < kLanes<T> / 2; ++e) {
        Row<T> row{v[2 * e], v[2 * e + 1]};
        Exchange(row, from.exchanged);
        Put(tile, done + e, row);
      }
    }
  }
  LoadEach(from, done, n, lanes, tile);
}

template <typename T>
HLOD_FFT_TARGET void StoreEach(const T* tile, int64_t begin, int64_t end, int lanes, T scale,
                               const TileMemory<T>& to) {
  constexpr int64_t kRow = 2 * kLanes<T>;
  const int re = to.exchanged ? kLanes<T> : 0, im = to.exchanged ? 0 : kLanes<T>;
  for (; begin < end; begin += kBlock) {
    const int64_t stop = end - begin > kBlock ? begin + kBlock : end;
    for (int l = 0; l < lanes; ++l) {
      T* const x = to.data + 2 * l * to.lane_stride;
      for (int64_t e = begin; e < stop; ++e) {
        x[2 * e * to.element_stride] = scale * tile[e * kRow + re + l];
        x[2 * e * to.element_stride + 1] = scale * tile[e * kRow + im + l];
      }
    }
  }
}

template <typename T>
HLOD_FFT_TARGET void Store(const T* tile, int64_t n, int lanes, T scale, const TileMemory<T>& to) {
  int64_t done = 0;
  const auto get = [&](int64_t e) HLOD_FFT_LAMBDA {
    Row<T> row = Get(tile, e);
    Exchange(row, to.exchanged);
    return Row<T>{scale * row.re, scale * row.im};
  };
  if (lanes == kLanes<T> && to.lane_stride == 1) {
    for (; done < n; ++done) {
      const Row<T> row = get(done), pairs = Join(row.re, row.im);
      T* const at = to.data + 2 * done * to.element_stride;
      StoreVector(at, pairs.re);
      StoreVector(at + kLanes<T>, pairs.im);
    }
  } else if (lanes == kLanes<T> && to.element_stride == 1) {
    for (; done + kLanes<T> / 2 <= n; done += kLanes<T> / 2) {
      Vector<T> v[kLanes<T>];
#pragma GCC unroll 4
      for (int e = 0; e < kLanes<T> / 2; ++e) {
        const Row<T> row = get(done + e);
        v[2 * e] = row.re, v[2 * e + 1] = row.im;
      }
      Transpose(v);
#pragma GCC unroll 8
      for (int l = 0; l < kLanes<T>; ++l) StoreVector(to.data + 2 * (l * to.lane_stride + done), v[l]);
    }
  }
  StoreEach(tile, done, n, lanes, scale, to);
}

template <typename T>
HLOD_FFT_TARGET void Scale(T* tile, const Complex<T>* factors, int64_t n, bool exchange_before,
                           bool exchange_after) {
  for (int64_t e = 0; e < n; ++e) {
    Row<T> row = Get(tile, e);
    Exchange(row, exchange_before);
    row = Multiply(row, factors[e]);
    Exchange(row, exchange_after);
    Put(tile, e, row);
  }
}

template <typename T>
HLOD_FFT_TARGET void Twiddle(T* tile, int64_t n, int64_t first, const Roots<T>& roots, const T* steps) {
  for (int64_t k = 0; k < n; ++k) {
    const Row<T> root = Multiply(Get(steps, k), roots[k * first]), row = Get(tile, k);
    Put(tile, k, Row<T>{row.re * root.re - row.im * root.im, row.re * root.im + row.im * root.re});
  }
}

template <typename T>
constexpr Kernels<T> MakeKernels() {
  return {
      .load = Load<T>, .store = Store<T>, .passes = RunPasses<T>, .scale = Scale<T>, .twiddle = Twiddle<T>};
}

}  // namespace HLOD_FFT_SET
}  // namespace
}  // namespace hlod::engine::fft
