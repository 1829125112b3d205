// The inner loops of strided copies.
#include "server/engine/run/copy_kernels.h"

#include <algorithm>
#include <cstring>
#include <utility>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// Elements may be unaligned, so they are moved by memcpy, which is one instruction.
template <typename T>
inline T Load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}
template <typename T>
inline void Store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof(T));
}

template <typename T>
struct FillKernel {
  static HLOD_ALWAYS_INLINE void Run(T value, int64_t count, std::byte* to) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
};

// Reverses elements. `from` points to the last one of the source.
template <typename T>
struct ReverseKernel {
  static HLOD_ALWAYS_INLINE void Run(const std::byte* from, int64_t count, std::byte* to) {
    constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
    const std::byte* const first = from - (count - 1) * kWidth;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) Store<T>(to + i * kWidth, Load<T>(first + (count - 1 - i) * kWidth));
  }
};

template <int64_t kBytes>
void CopyFixedRuns(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row) {
  for (int64_t r = 0; r < rows; ++r, src += src_row, dst += dst_row) std::memcpy(dst, src, kBytes);
}

#if defined(__SSE2__)
// Transposes two by two 64-bit elements.
inline void Transpose2x2(const std::byte* src, int64_t src_column, std::byte* dst, int64_t dst_row) {
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + src_column));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm_unpacklo_epi64(a, b));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + dst_row), _mm_unpackhi_epi64(a, b));
}
// Transposes four by four 32-bit elements.
inline void Transpose4x4(const std::byte* src, int64_t src_column, std::byte* dst, int64_t dst_row) {
  const auto load = [&](int64_t c) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + c * src_column));
  };
  const __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  const __m128i ab_low = _mm_unpacklo_epi32(a, b), cd_low = _mm_unpacklo_epi32(c, d);
  const __m128i ab_high = _mm_unpackhi_epi32(a, b), cd_high = _mm_unpackhi_epi32(c, d);
  const auto store = [&](int64_t r, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + r * dst_row), v);
  };
  store(0, _mm_unpacklo_epi64(ab_low, cd_low));
  store(1, _mm_unpackhi_epi64(ab_low, cd_low));
  store(2, _mm_unpacklo_epi64(ab_high, cd_high));
  store(3, _mm_unpackhi_epi64(ab_high, cd_high));
}
// Transposes eight by eight 16-bit elements.
inline void Transpose8x8(const std::byte* src, int64_t src_column, std::byte* dst, int64_t dst_row) {
  __m128i v[8], w[8];
  for (int c = 0; c < 8; ++c) v[c] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + c * src_column));
  for (int i = 0; i < 4; ++i) {
    w[i] = _mm_unpacklo_epi16(v[2 * i], v[2 * i + 1]);      // Rows 0-3 of two columns.
    w[i + 4] = _mm_unpackhi_epi16(v[2 * i], v[2 * i + 1]);  // Rows 4-7.
  }
  for (int half = 0; half < 2; ++half) {
    const __m128i* h = w + 4 * half;
    const __m128i low01 = _mm_unpacklo_epi32(h[0], h[1]), high01 = _mm_unpackhi_epi32(h[0], h[1]);
    const __m128i low23 = _mm_unpacklo_epi32(h[2], h[3]), high23 = _mm_unpackhi_epi32(h[2], h[3]);
    std::byte* row = dst + 4 * half * dst_row;
    const auto store = [&](int64_t r, __m128i x) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(row + r * dst_row), x);
    };
    store(0, _mm_unpacklo_epi64(low01, low23));
    store(1, _mm_unpackhi_epi64(low01, low23));
    store(2, _mm_unpacklo_epi64(high01, high23));
    store(3, _mm_unpackhi_epi64(high01, high23));
  }
}
// Transposes sixteen by sixteen bytes by four perfect shuffles of the columns.
inline void Transpose16x16(const std::byte* src, int64_t src_column, std::byte* dst, int64_t dst_row) {
  __m128i v[16], w[16];
  for (int c = 0; c < 16; ++c) v[c] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + c * src_column));
  for (int shuffle = 0; shuffle < 4; ++shuffle) {
    for (int i = 0; i < 8; ++i) {
      w[2 * i] = _mm_unpacklo_epi8(v[i], v[i + 8]);
      w[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + 8]);
    }
    std::copy(w, w + 16, v);
  }
  for (int r = 0; r < 16; ++r) _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + r * dst_row), v[r]);
}
#endif

// The size of the largest square that has a register transpose for this element size; 1 if there is none.
template <typename T>
constexpr int64_t Micro() {
#if defined(__SSE2__)
  if (sizeof(T) == 8) return 2;
  if (sizeof(T) == 4) return 4;
  if (sizeof(T) == 2) return 8;
  if (sizeof(T) == 1) return 16;
#endif
  return 1;
}

// Interleave kCount arrays into n tuples of neighbours, and back. The compiler shuffles vectors if the
// elements of a tuple are written out.
template <typename T, int kCount>
struct InterleaveKernel {
  typedef T Element __attribute__((aligned(1), may_alias));
  static HLOD_ALWAYS_INLINE void Run(const std::byte* const* from, int64_t n, std::byte* to) {
    Tuples(std::make_integer_sequence<int, kCount>(), from, n, reinterpret_cast<Element*>(to));
  }
  template <int... kPlace>
  static HLOD_ALWAYS_INLINE void Tuples(std::integer_sequence<int, kPlace...>, const std::byte* const* from,
                                        int64_t n, Element* to) {
    const Element* const in[] = {reinterpret_cast<const Element*>(from[kPlace])...};
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) ((to[i * kCount + kPlace] = in[kPlace][i]), ...);
  }
};
template <typename T, int kCount>
struct DeinterleaveKernel {
  typedef T Element __attribute__((aligned(1), may_alias));
  static HLOD_ALWAYS_INLINE void Run(const std::byte* from, int64_t n, std::byte* const* to) {
    Tuples(std::make_integer_sequence<int, kCount>(), reinterpret_cast<const Element*>(from), n, to);
  }
  template <int... kPlace>
  static HLOD_ALWAYS_INLINE void Tuples(std::integer_sequence<int, kPlace...>, const Element* from, int64_t n,
                                        std::byte* const* to) {
    Element* const out[] = {reinterpret_cast<Element*>(to[kPlace])...};
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) ((out[kPlace][i] = from[i * kCount + kPlace]), ...);
  }
};

// Transposes dense pairs and triples, and to them. Returns false for other blocks.
template <typename T>
bool TransposeTuples(const std::byte* src, std::byte* dst, int64_t rows, int64_t dst_row, int64_t columns,
                     int64_t src_column) {
  constexpr int64_t kWidth = sizeof(T);
  const std::byte* const from[] = {src, src + src_column, src + 2 * src_column};
  std::byte* const to[] = {dst, dst + dst_row, dst + 2 * dst_row};
  const bool makes_tuples = dst_row == columns * kWidth, reads_tuples = src_column == rows * kWidth;
  if (makes_tuples && columns == 2) RunBest<InterleaveKernel<T, 2>>(from, rows, dst);
  else if (makes_tuples && columns == 3) RunBest<InterleaveKernel<T, 3>>(from, rows, dst);
  else if (reads_tuples && rows == 2) RunBest<DeinterleaveKernel<T, 2>>(src, columns, to);
  else if (reads_tuples && rows == 3) RunBest<DeinterleaveKernel<T, 3>>(src, columns, to);
  else return false;
  return true;
}

template <typename T>
void TransposeTyped(const std::byte* src, std::byte* dst, int64_t rows, int64_t dst_row, int64_t columns,
                    int64_t src_column) {
  constexpr int64_t kWidth = sizeof(T);
  constexpr int64_t kBlock = kWidth == 1 ? 64 : 128 / kWidth;  // Two cache lines.
  constexpr int64_t kMicro = Micro<T>();
  if constexpr (kMicro > 1) {
    if (TransposeTuples<T>(src, dst, rows, dst_row, columns, src_column)) return;
  }
  const auto scalars = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    for (int64_t r = r0; r < r1; ++r) {
      const std::byte* from = src + r * kWidth;
      std::byte* to = dst + r * dst_row;
      for (int64_t c = c0; c < c1; ++c) Store<T>(to + c * kWidth, Load<T>(from + c * src_column));
    }
  };
  for (int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const int64_t r1 = std::min(rows, r0 + kBlock);
    for (int64_t c0 = 0; c0 < columns; c0 += kBlock) {
      const int64_t c1 = std::min(columns, c0 + kBlock);
      if constexpr (kMicro == 1) {
        scalars(r0, r1, c0, c1);
      } else {
#if defined(__SSE2__)
        const int64_t r_full = r0 + (r1 - r0) / kMicro * kMicro, c_full = c0 + (c1 - c0) / kMicro * kMicro;
        for (int64_t r = r0; r < r_full; r += kMicro) {
          for (int64_t c = c0; c < c_full; c += kMicro) {
            const std::byte* from = src + r * kWidth + c * src_column;
            std::byte* to = dst + r * dst_row + c * kWidth;
            if constexpr (kWidth == 8) Transpose2x2(from, src_column, to, dst_row);
            if constexpr (kWidth == 4) Transpose4x4(from, src_column, to, dst_row);
            if constexpr (kWidth == 2) Transpose8x8(from, src_column, to, dst_row);
            if constexpr (kWidth == 1) Transpose16x16(from, src_column, to, dst_row);
          }
        }
        scalars(r0, r_full, c_full, c1);
        scalars(r_full, r1, c0, c1);
#endif
      }
    }
  }
}

}  // namespace

void CopyRuns(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
              int64_t bytes) {
  switch (bytes) {
    case 1: return CopyFixedRuns<1>(src, dst, rows, src_row, dst_row);
    case 2: return CopyFixedRuns<2>(src, dst, rows, src_row, dst_row);
    case 4: return CopyFixedRuns<4>(src, dst, rows, src_row, dst_row);
    case 8: return CopyFixedRuns<8>(src, dst, rows, src_row, dst_row);
    case 12: return CopyFixedRuns<12>(src, dst, rows, src_row, dst_row);
    case 16: return CopyFixedRuns<16>(src, dst, rows, src_row, dst_row);
    case 32: return CopyFixedRuns<32>(src, dst, rows, src_row, dst_row);
    case 64: return CopyFixedRuns<64>(src, dst, rows, src_row, dst_row);
    default: break;
  }
  for (int64_t r = 0; r < rows; ++r, src += src_row, dst += dst_row)
    std::memcpy(dst, src, static_cast<size_t>(bytes));
}

void FillRows(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
              int64_t count, int width) {
  if (width == 1) {
    for (int64_t r = 0; r < rows; ++r)
      std::memset(dst + r * dst_row, static_cast<int>(src[r * src_row]), static_cast<size_t>(count));
    return;
  }
  VisitWidth(width, [&]<typename T>() {
    for (int64_t r = 0; r < rows; ++r)
      RunBest<FillKernel<T>>(Load<T>(src + r * src_row), count, dst + r * dst_row);
  });
}

void TransposeBlock(const std::byte* src, std::byte* dst, int64_t rows, int64_t dst_row, int64_t columns,
                    int64_t src_column, int width) {
  VisitWidth(width, [&]<typename T>() { TransposeTyped<T>(src, dst, rows, dst_row, columns, src_column); });
}

void Interleave(const std::byte* const* from, int count, int64_t n, std::byte* to, int width) {
  VisitWidth(width, [&]<typename T>() {
    if constexpr (sizeof(T) <= 8) {
      if (count == 2) RunBest<InterleaveKernel<T, 2>>(from, n, to);
      else if (count == 3) RunBest<InterleaveKernel<T, 3>>(from, n, to);
      else RunBest<InterleaveKernel<T, 4>>(from, n, to);
    }
  });
}

void CopyStrided(const std::byte* src, std::byte* dst, int64_t rows, int64_t src_row, int64_t dst_row,
                 int64_t count, int64_t src_step, int64_t dst_step, int width) {
  VisitWidth(width, [&]<typename T>() {
    constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
    const bool reverse = src_step == -kWidth && dst_step == kWidth;
    for (int64_t r = 0; r < rows; ++r) {
      const std::byte* from = src + r * src_row;
      std::byte* to = dst + r * dst_row;
      if (reverse) {
        RunBest<ReverseKernel<T>>(from, count, to);
        continue;
      }
      for (int64_t i = 0; i < count; ++i) Store<T>(to + i * dst_step, Load<T>(from + i * src_step));
    }
  });
}

}  // namespace hlod::engine
