// The kernels for one instruction set. Included by panel_kernels_<set>.cc, which defines HLOD_PANEL_SET (a
// namespace), HLOD_PANEL_TARGET (the function attribute, possibly empty), HLOD_PANEL_BYTES (the size of a
// vector) and HLOD_PANEL_ROWS (the largest number of rows whose sums stay in registers). The sets do not
// share functions here, because the linker must not keep a function compiled for AVX-512 for all of them.
//
// Every element of the result is summed in the order of the depth, in each set and whatever the tile is, so
// that its bits do not depend on the size of the team. AVX2 and AVX-512 both fuse a product with its sum, and
// agree in every bit.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "server/engine/contraction/panels/panel_kernels.h"
#include "server/engine/contraction/panels/panel_pack.h"
#include "server/engine/run/small_floats.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define HLOD_PANEL_INLINE HLOD_PANEL_TARGET inline __attribute__((always_inline))

namespace hlod::engine {
namespace {
namespace HLOD_PANEL_SET {

constexpr int kVectorBytes = HLOD_PANEL_BYTES, kTileRows = HLOD_PANEL_ROWS;
template <typename T>
constexpr int kVectorLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <typename T>
struct PanelVector {
  typedef T Type __attribute__((vector_size(HLOD_PANEL_BYTES)));
};
template <typename T>
using Vector = typename PanelVector<T>::Type;

template <typename T>
HLOD_PANEL_INLINE Vector<T> LoadVector(const T* from) {
  Vector<T> vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}

#if HLOD_PANEL_BYTES >= 32
// Return masks of the first `count` lanes.
HLOD_PANEL_INLINE __m256i FirstFloats(int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
HLOD_PANEL_INLINE __m256i FirstDoubles(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
#endif

// Loads the first `count` elements, and zeros above them.
template <typename T>
HLOD_PANEL_INLINE Vector<T> LoadFirst(const T* from, int count) {
#if HLOD_PANEL_BYTES == 64
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
  } else {
    return (Vector<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), from);
  }
#elif HLOD_PANEL_BYTES == 32
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm256_maskload_ps(from, FirstFloats(count));
  } else {
    return (Vector<T>)_mm256_maskload_pd(from, FirstDoubles(count));
  }
#else
  Vector<T> vector = {};
  for (int i = 0; i < kVectorLanes<T>; ++i) vector[i] = i < count ? from[i] : T{0};
  return vector;
#endif
}

template <typename T>
HLOD_PANEL_INLINE void StoreFirst(Vector<T> vector, T* to, int count) {
#if HLOD_PANEL_BYTES == 64
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), (__m512)vector);
  } else {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << count) - 1), (__m512d)vector);
  }
#elif HLOD_PANEL_BYTES == 32
  // A masked store is microcode on some processors (on Zen 3, twelve cycles): stores each power of two
  // instead.
  __m128 part = _mm256_castps256_ps128((__m256)vector);
  const int bytes = count * static_cast<int>(sizeof(T));
  char* at = reinterpret_cast<char*>(to);
  if (bytes & 16) {
    _mm_storeu_ps(reinterpret_cast<float*>(at), part);
    part = _mm256_extractf128_ps((__m256)vector, 1);
    at += 16;
  }
  if (bytes & 8) {
    _mm_storel_pi(reinterpret_cast<__m64*>(at), part);
    part = _mm_movehl_ps(part, part);
    at += 8;
  }
  if (bytes & 4) _mm_store_ss(reinterpret_cast<float*>(at), part);
#else
  for (int i = 0; i < count; ++i) to[i] = vector[i];
#endif
}

// Computes a tile of kR rows and kV vectors. With `kPanels` both operands are panels, and columns beyond
// tile.columns may be read; without it they are read up to the last column only.
template <typename T, int kR, int kV, bool kPanels>
HLOD_PANEL_TARGET void MultiplyTile(const PanelTile<T>& tile) {
  constexpr int kLanes = kVectorLanes<T>;
  const int last = tile.columns - (kV - 1) * kLanes;  // The columns in the last vector.
  const int64_t lhs_row = tile.lhs_row;
  const int64_t lhs_depth = kPanels ? kR : tile.lhs_depth;
  const int64_t rhs_depth = kPanels ? 2 * kLanes : tile.rhs_depth;
  const T* lhs = tile.lhs;
  const T* rhs = tile.rhs;
  Vector<T> sums[kR][kV] = {};
  const auto add_products = [&](const Vector<T>(&row)[kV]) HLOD_PANEL_TARGET __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
      const T factor = kPanels ? lhs[r] : lhs[r * lhs_row];
#pragma GCC unroll 2
      for (int v = 0; v < kV; ++v) sums[r][v] += factor * row[v];
    }
    lhs += lhs_depth;
    rhs += rhs_depth;
  };
  if (kPanels || last == kLanes) {
    for (int64_t k = 0; k < tile.depth; ++k) {
      Vector<T> row[kV];
#pragma GCC unroll 2
      for (int v = 0; v < kV; ++v) row[v] = LoadVector(rhs + v * kLanes);
      add_products(row);
    }
  } else {
    for (int64_t k = 0; k < tile.depth; ++k) {
      Vector<T> row[kV];
#pragma GCC unroll 2
      for (int v = 0; v + 1 < kV; ++v) row[v] = LoadVector(rhs + v * kLanes);
      row[kV - 1] = LoadFirst(rhs + (kV - 1) * kLanes, last);
      add_products(row);
    }
  }
  T* out = tile.out;
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r, out += tile.out_row) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int count = v + 1 < kV ? kLanes : last;
      T* to = out + v * kLanes;
      if (count == kLanes) {
        if (tile.adds) sums[r][v] += LoadVector(to);
        std::memcpy(to, &sums[r][v], sizeof(sums[r][v]));
      } else {
        if (tile.adds) sums[r][v] += LoadFirst(to, count);
        StoreFirst<T>(sums[r][v], to, count);
      }
    }
  }
}

template <typename T>
constexpr PanelKernels<T> MakePanelKernels() {
  PanelKernels<T> kernels{kTileRows, kVectorLanes<T>, {}, {}};
  [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
    ((kernels.packed[kRow][0] = MultiplyTile<T, kRow + 1, 1, true>,
      kernels.packed[kRow][1] = MultiplyTile<T, kRow + 1, 2, true>,
      kernels.strided[kRow][0] = MultiplyTile<T, kRow + 1, 1, false>,
      kernels.strided[kRow][1] = MultiplyTile<T, kRow + 1, 2, false>),
     ...);
  }
  (std::make_integer_sequence<int, kTileRows>());
  return kernels;
}

// -----------------------------------------------------------------------------------------------------------
// panels

template <typename From, typename T>
HLOD_PANEL_INLINE T Widen(From value) {
  if constexpr (std::is_same_v<From, T>) {
    return value;
  } else {
    return WidenSmall(value);
  }
}

#if HLOD_PANEL_BYTES >= 32
// Load eight elements as f32.
HLOD_PANEL_INLINE __m256 LoadEight(const float* from) { return _mm256_loadu_ps(from); }
HLOD_PANEL_INLINE __m256 LoadEight(const hlo::BF16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
HLOD_PANEL_INLINE __m256 LoadEight(const hlo::F16* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

// Writes the transpose of eight rows, of which the first `rows` exist and the others are zeros, to the first
// `width` columns of `to`. With `spills`, whose rows are neighbours, other columns of these eight rows are
// written before their own.
template <typename From>
HLOD_PANEL_INLINE void TurnEight(const From* from, int64_t lane_stride, int64_t rows, float* to,
                                 int64_t to_stride, int width, bool spills) {
  __m256 a[8], b[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) a[i] = i < rows ? LoadEight(from + i * lane_stride) : _mm256_setzero_ps();
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
    a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
    a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
    a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20);
    b[i + 4] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    if (width == 8 || (spills && i * width + 8 <= 8 * width)) {
      _mm256_storeu_ps(to + i * to_stride, b[i]);
    } else {
#if HLOD_PANEL_BYTES == 32
      StoreFirst<float>((Vector<float>)b[i], to + i * to_stride, width);
#else
      _mm256_maskstore_ps(to + i * to_stride, FirstFloats(width), b[i]);
#endif
    }
  }
}
#endif

// Copies lanes whose elements are neighbours, in steps of eight depths. Returns the depths that it copied.
template <typename From, typename T>
HLOD_PANEL_INLINE int64_t PackLanes([[maybe_unused]] const From* from,
                                    [[maybe_unused]] const PanelSource& source,
                                    [[maybe_unused]] int64_t width, [[maybe_unused]] T* panel) {
  int64_t k = 0;
#if HLOD_PANEL_BYTES >= 32
  if constexpr (sizeof(T) == 4) {
    for (; k + 8 <= source.depth; k += 8) {
      for (int64_t l = 0; l < width; l += 8)
        TurnEight(from + l * source.lane_stride + k, source.lane_stride, source.lanes - l,
                  panel + k * width + l, width, static_cast<int>(std::min<int64_t>(8, width - l)),
                  HLOD_PANEL_BYTES == 32 && width < 8);
    }
  }
#endif
  return k;
}

// Copies depths whose lanes are neighbours.
template <typename From, typename T>
HLOD_PANEL_INLINE void PackDepths(const From* from, const PanelSource& source, int64_t width, T* panel) {
  for (int64_t k = 0; k < source.depth; ++k) {
    const From* row = from + k * source.depth_stride;
    T* to = panel + k * width;
    int64_t l = 0;
#if HLOD_PANEL_BYTES >= 32
    if constexpr (sizeof(T) == 4) {
      for (; l + 8 <= source.lanes; l += 8) _mm256_storeu_ps(to + l, LoadEight(row + l));
    }
#endif
    for (; l < source.lanes; ++l) to[l] = Widen<From, T>(row[l]);
    for (; l < width; ++l) to[l] = T{0};
  }
}

template <typename From, typename T>
HLOD_PANEL_TARGET void Pack(const PanelSource& source, int64_t width, std::byte* panel_bytes) {
  const auto* from = reinterpret_cast<const From*>(source.data);
  T* panel = reinterpret_cast<T*>(panel_bytes);
  if (source.lane_stride == 1) return PackDepths(from, source, width, panel);
  for (int64_t k = source.depth_stride == 1 ? PackLanes(from, source, width, panel) : 0; k < source.depth;
       ++k) {
    T* to = panel + k * width;
    for (int64_t l = 0; l < source.lanes; ++l)
      to[l] = Widen<From, T>(from[l * source.lane_stride + k * source.depth_stride]);
    for (int64_t l = source.lanes; l < width; ++l) to[l] = T{0};
  }
}

// -----------------------------------------------------------------------------------------------------------
// products with a vector

#if HLOD_PANEL_BYTES >= 32
HLOD_PANEL_INLINE __m256d LoadEight(const double* from) { return _mm256_loadu_pd(from); }
HLOD_PANEL_INLINE __m256 MultiplyAdd(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
HLOD_PANEL_INLINE __m256d MultiplyAdd(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#endif

// Multiplies kRows rows by the vector. The partial sums are added in an order that only the depth determines.
template <typename From, typename T, int kRows>
HLOD_PANEL_INLINE void MultiplyRows(const From* rows, int64_t stride, const From* vector, int64_t depth,
                                    T* out) {
  T sums[kRows] = {};
  int64_t k = 0;
#if HLOD_PANEL_BYTES >= 32
  using Lanes = decltype(LoadEight(rows));
  constexpr int kLanes = static_cast<int>(sizeof(Lanes) / sizeof(T)), kParts = 2;
  Lanes parts[kRows][kParts] = {};
  for (; k + kParts * kLanes <= depth; k += kParts * kLanes) {
#pragma GCC unroll 2
    for (int p = 0; p < kParts; ++p) {
      const Lanes factors = LoadEight(vector + k + p * kLanes);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
        parts[r][p] = MultiplyAdd(LoadEight(rows + r * stride + k + p * kLanes), factors, parts[r][p]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const Lanes both = parts[r][0] + parts[r][1];
    for (int i = 0; i < kLanes; ++i) sums[r] += both[i];
  }
#endif
  for (; k < depth; ++k) {
    for (int r = 0; r < kRows; ++r)
      sums[r] += Widen<From, T>(rows[r * stride + k]) * Widen<From, T>(vector[k]);
  }
  for (int r = 0; r < kRows; ++r) out[r] = sums[r];
}

template <typename From, typename T>
HLOD_PANEL_TARGET void MultiplyVector(const PanelSource& rows, const std::byte* vector_bytes,
                                      std::byte* out_bytes) {
  constexpr int kRows = 4;
  const auto* from = reinterpret_cast<const From*>(rows.data);
  const auto* vector = reinterpret_cast<const From*>(vector_bytes);
  T* out = reinterpret_cast<T*>(out_bytes);
  int64_t row = 0;
  for (; row + kRows <= rows.lanes; row += kRows)
    MultiplyRows<From, T, kRows>(from + row * rows.lane_stride, rows.lane_stride, vector, rows.depth,
                                 out + row);
  for (; row < rows.lanes; ++row)
    MultiplyRows<From, T, 1>(from + row * rows.lane_stride, rows.lane_stride, vector, rows.depth, out + row);
}

#if HLOD_PANEL_BYTES >= 32
HLOD_PANEL_INLINE void StoreEight(__m256 sums, float* to) { _mm256_storeu_ps(to, sums); }
HLOD_PANEL_INLINE void StoreEight(__m256d sums, double* to) { _mm256_storeu_pd(to, sums); }
HLOD_PANEL_INLINE __m256 Broadcast(float value) { return _mm256_set1_ps(value); }
HLOD_PANEL_INLINE __m256d Broadcast(double value) { return _mm256_set1_pd(value); }
#endif

// Adds kDepths rows of the matrix, each times its factor, to the sums. The rows are read from beginning to
// end.
template <typename From, typename T, int kDepths>
HLOD_PANEL_INLINE void AddRows(const From* rows, int64_t stride, const T (&factors)[kDepths], int64_t columns,
                               T* sums) {
  int64_t c = 0;
#if HLOD_PANEL_BYTES >= 32
  using Lanes = decltype(LoadEight(rows));
  constexpr int kLanes = static_cast<int>(sizeof(Lanes) / sizeof(T));
  Lanes wide[kDepths];
#pragma GCC unroll 8
  for (int d = 0; d < kDepths; ++d) wide[d] = Broadcast(factors[d]);
  for (; c + kLanes <= columns; c += kLanes) {
    Lanes sum = LoadEight(static_cast<const T*>(sums + c));
#pragma GCC unroll 8
    for (int d = 0; d < kDepths; ++d) sum = MultiplyAdd(LoadEight(rows + d * stride + c), wide[d], sum);
    StoreEight(sum, sums + c);
  }
#endif
  for (; c < columns; ++c) {
    for (int d = 0; d < kDepths; ++d) sums[c] += Widen<From, T>(rows[d * stride + c]) * factors[d];
  }
}

template <typename From, typename T>
HLOD_PANEL_TARGET void MultiplyMatrix(const std::byte* row_bytes, int64_t row_stride,
                                      const PanelSource& matrix, std::byte* sums_bytes) {
  constexpr int kDepths = 8;
  const auto* row = reinterpret_cast<const From*>(row_bytes);
  const auto* from = reinterpret_cast<const From*>(matrix.data);
  T* sums = reinterpret_cast<T*>(sums_bytes);
  std::fill(sums, sums + matrix.lanes, T{0});
  int64_t k = 0;
  for (; k + kDepths <= matrix.depth; k += kDepths) {
    T factors[kDepths];
    for (int d = 0; d < kDepths; ++d) factors[d] = Widen<From, T>(row[(k + d) * row_stride]);
    AddRows(from + k * matrix.depth_stride, matrix.depth_stride, factors, matrix.lanes, sums);
  }
  for (; k < matrix.depth; ++k) {
    const T factors[1] = {Widen<From, T>(row[k * row_stride])};
    AddRows(from + k * matrix.depth_stride, matrix.depth_stride, factors, matrix.lanes, sums);
  }
}

// Rounds f32 to f16.
HLOD_PANEL_TARGET void Narrow(const std::byte* from_bytes, std::byte* to_bytes, int64_t count) {
  const auto* from = reinterpret_cast<const float*>(from_bytes);
  auto* to = reinterpret_cast<hlo::F16*>(to_bytes);
  int64_t i = 0;
#if HLOD_PANEL_BYTES >= 32
  for (; i + 8 <= count; i += 8) {
    const __m128i narrow =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), narrow);
  }
#endif
  for (; i < count; ++i) to[i] = RoundToSmall<hlo::F16>(from[i]);
}

constexpr PanelPacks MakePanelPacks() {
  return {.f32 = Pack<float, float>,
          .bf16 = Pack<hlo::BF16, float>,
          .f16 = Pack<hlo::F16, float>,
          .f64 = Pack<double, double>,
          .to_f16 = Narrow,
          .rows_f32 = MultiplyVector<float, float>,
          .rows_bf16 = MultiplyVector<hlo::BF16, float>,
          .rows_f16 = MultiplyVector<hlo::F16, float>,
          .rows_f64 = MultiplyVector<double, double>,
          .matrix_f32 = MultiplyMatrix<float, float>,
          .matrix_bf16 = MultiplyMatrix<hlo::BF16, float>,
          .matrix_f16 = MultiplyMatrix<hlo::F16, float>,
          .matrix_f64 = MultiplyMatrix<double, double>};
}

}  // namespace HLOD_PANEL_SET
}  // namespace
}  // namespace hlod::engine
