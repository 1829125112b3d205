// The pair kernels for one instruction set. Included by panel_kernels_<set>.cc after panel_kernels_impl.h.
#include "server/engine/contraction/panels/pair_kernels.h"

namespace hlod::engine {
namespace {
namespace HLOD_PANEL_SET {

constexpr int kPairLanes = kVectorLanes<int32_t>;
constexpr int kPairRows = kTileRows < PairKernels::kRowsMax ? kTileRows : PairKernels::kRowsMax;

// Returns sums + the products of pairs, whose sums wrap.
HLOD_PANEL_INLINE Vector<int32_t> AddPairs(Vector<int32_t> sums, Vector<int32_t> a, Vector<int32_t> b) {
#if HLOD_PANEL_BYTES == 64
  return (Vector<int32_t>)_mm512_add_epi32((__m512i)sums, _mm512_madd_epi16((__m512i)a, (__m512i)b));
#elif HLOD_PANEL_BYTES == 32
  return (Vector<int32_t>)_mm256_add_epi32((__m256i)sums, _mm256_madd_epi16((__m256i)a, (__m256i)b));
#elif defined(__x86_64__)
  return (Vector<int32_t>)_mm_add_epi32((__m128i)sums, _mm_madd_epi16((__m128i)a, (__m128i)b));
#else
  for (int i = 0; i < kPairLanes; ++i) {
    const int32_t low = int32_t{static_cast<int16_t>(a[i])} * static_cast<int16_t>(b[i]),
                  high = (a[i] >> 16) * (b[i] >> 16);
    sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + static_cast<uint32_t>(low) +
                                   static_cast<uint32_t>(high));
  }
  return sums;
#endif
}

// Writes the first `count` sums, or adds them to what is there.
HLOD_PANEL_INLINE void StoreSums(Vector<int32_t> sums, int32_t* to, int count, bool adds) {
#if HLOD_PANEL_BYTES >= 32
  auto* const bits = reinterpret_cast<float*>(to);
  const bool whole = count == kPairLanes;
  if (adds) {
    const auto before = (Vector<uint32_t>)(whole ? LoadVector(bits) : LoadFirst(bits, count));
    sums = (Vector<int32_t>)((Vector<uint32_t>)sums + before);
  }
  if (whole) std::memcpy(to, &sums, sizeof(sums));
  else StoreFirst<float>((Vector<float>)sums, bits, count);
#else
  for (int i = 0; i < kPairLanes; ++i) {
    if (i < count)
      to[i] =
          static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + (adds ? static_cast<uint32_t>(to[i]) : 0));
  }
#endif
}

template <int kR, int kV>
HLOD_PANEL_TARGET void MultiplyPairs(const PairTile& tile) {
  using Sums = Vector<int32_t>;
  constexpr int64_t kPairStep = 2 * PairKernels::kVectorsMax * kPairLanes;
  const int64_t lhs_row = tile.lhs_row;
  const int16_t* rhs = tile.rhs;
  Sums sums[kR][kV] = {};
  for (int64_t t = 0; t < tile.tap_count; ++t) {
    const int16_t* lhs = tile.lhs + tile.taps[t];
    for (int64_t p = 0; p < tile.pairs; ++p, lhs += 2, rhs += kPairStep) {
      Sums row[kV];
#pragma GCC unroll 2
      for (int v = 0; v < kV; ++v) std::memcpy(&row[v], rhs + v * 2 * kPairLanes, sizeof(Sums));
#pragma GCC unroll 16
      for (int r = 0; r < kR; ++r) {
        int32_t pair;
        std::memcpy(&pair, lhs + r * lhs_row, sizeof(pair));
        const Sums factor = pair - Sums{};
#pragma GCC unroll 2
        for (int v = 0; v < kV; ++v) sums[r][v] = AddPairs(sums[r][v], factor, row[v]);
      }
    }
  }
  const int last = tile.columns - (kV - 1) * kPairLanes;  // The columns in the last vector.
  int32_t* out = tile.out;
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r, out += tile.out_row) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v)
      StoreSums(sums[r][v], out + v * kPairLanes, v + 1 < kV ? kPairLanes : last, tile.adds);
  }
}

template <typename From>
HLOD_PANEL_TARGET void WidenToPairs(const std::byte* from_bytes, int64_t stride, int64_t count, int16_t* to) {
  const auto* from = reinterpret_cast<const From*>(from_bytes);
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

#if HLOD_PANEL_BYTES >= 32
HLOD_PANEL_INLINE __m256i WidenSixteen(__m128i bytes, int8_t) { return _mm256_cvtepi8_epi16(bytes); }
HLOD_PANEL_INLINE __m256i WidenSixteen(__m128i bytes, uint8_t) { return _mm256_cvtepu8_epi16(bytes); }

// A byte of eight pairs, which LoadEight widens to eight elements of 32 bits.
template <typename Byte>
struct PairByte {
  Byte byte;
};
template <typename Byte>
HLOD_PANEL_INLINE __m256 LoadEight(const PairByte<Byte>* from) {
  return _mm256_castsi256_ps(WidenSixteen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)), Byte{}));
}

// Interleaves 16 columns of two rows.
template <typename Byte>
HLOD_PANEL_INLINE void InterleaveRows(const Byte* even, const Byte* odd, int16_t* to) {
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(even)),
                b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(odd));
  auto* const vectors = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(vectors, WidenSixteen(_mm_unpacklo_epi8(a, b), Byte{}));
  _mm256_storeu_si256(vectors + 1, WidenSixteen(_mm_unpackhi_epi8(a, b), Byte{}));
}
#endif

// Writes the first pairs of a panel whose columns' elements are neighbours, eight at a time. Returns the
// number of pairs.
template <typename From>
HLOD_PANEL_INLINE int64_t PackPairColumns([[maybe_unused]] const From* from,
                                          [[maybe_unused]] const PairSource& source,
                                          [[maybe_unused]] int16_t* panel) {
  int64_t p = 0;
#if HLOD_PANEL_BYTES >= 32
  constexpr int64_t kColumns = PairKernels::kVectorsMax * kPairLanes;
  if constexpr (sizeof(From) == 1) {
    const auto* bytes = reinterpret_cast<const PairByte<From>*>(from);
    for (; 2 * (p + 8) <= source.depth; p += 8) {
      for (int64_t c = 0; c < kColumns; c += 8)
        TurnEight(bytes + c * source.column_stride + 2 * p, source.column_stride, source.columns - c,
                  reinterpret_cast<float*>(panel) + p * kColumns + c, kColumns, 8, false);
    }
  }
#endif
  return p;
}

template <typename From>
HLOD_PANEL_TARGET void PackPairPanel(const PairSource& source, int16_t* panel) {
  constexpr int64_t kColumns = PairKernels::kVectorsMax * kPairLanes;
  const auto* from = reinterpret_cast<const From*>(source.data);
  int64_t p = source.depth_stride == 1 ? PackPairColumns(from, source, panel) : 0;
  for (; 2 * p < source.depth; ++p) {
    const From* const even = from + 2 * p * source.depth_stride;
    const bool has_odd = 2 * p + 1 < source.depth;
    const From* const odd = has_odd ? even + source.depth_stride : even;
    int16_t* const to = panel + p * 2 * kColumns;
    int64_t c = 0;
#if HLOD_PANEL_BYTES >= 32
    if constexpr (sizeof(From) == 1) {
      for (; source.column_stride == 1 && has_odd && c + 16 <= source.columns; c += 16)
        InterleaveRows(even + c, odd + c, to + 2 * c);
    }
#endif
    for (; c < source.columns; ++c) {
      to[2 * c] = even[c * source.column_stride];
      to[2 * c + 1] = static_cast<int16_t>(has_odd ? odd[c * source.column_stride] : 0);
    }
    for (; c < kColumns; ++c) to[2 * c] = to[2 * c + 1] = 0;
  }
}

constexpr PairKernels MakePairKernels() {
  PairKernels kernels{kPairRows,
                      kPairLanes,
                      {},
                      {WidenToPairs<int8_t>, WidenToPairs<uint8_t>, WidenToPairs<int16_t>},
                      {PackPairPanel<int8_t>, PackPairPanel<uint8_t>, PackPairPanel<int16_t>}};
  [&]<int... kRow>(std::integer_sequence<int, kRow...>) {
    ((kernels.tiles[kRow][0] = MultiplyPairs<kRow + 1, 1>,
      kernels.tiles[kRow][1] = MultiplyPairs<kRow + 1, 2>),
     ...);
  }(std::make_integer_sequence<int, kPairRows>());
  return kernels;
}

}  // namespace HLOD_PANEL_SET
}  // namespace
}  // namespace hlod::engine
