// Operations for which only some processors of an instruction set have instructions. Included only by
// ops_impl.h, inside its namespace.

// Converts f16 and f8e5m2 to f32 and back (F16C), eight elements at a time, with the same rounding as
// RoundToSmall.

enum class Half { kLoad, kStore, kNarrow };

#if defined(HLOD_TARGET_HALF)
HLOD_TARGET_HALF inline __m128i HalvesAt(const uint16_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

HLOD_TARGET_HALF void LoadHalves(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const uint16_t*>(a);
  int i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(o + i, _mm256_cvtph_ps(HalvesAt(x + i)));
  for (; i < n; ++i) o[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(x[i])));
}
HLOD_TARGET_HALF void StoreHalves(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<uint16_t*>(out);
  const auto* x = static_cast<const float*>(a);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(o + i), halves);
  }
  for (; i < n; ++i) {
    const __m128i half = _mm_cvtps_ph(_mm_set_ss(x[i]), _MM_FROUND_TO_NEAREST_INT);
    o[i] = static_cast<uint16_t>(_mm_cvtsi128_si32(half));
  }
}
HLOD_TARGET_HALF void NarrowToHalves(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(o + i, _mm256_cvtph_ps(halves));
  }
  for (; i < n; ++i) {
    const __m128i half = _mm_cvtps_ph(_mm_set_ss(x[i]), _MM_FROUND_TO_NEAREST_INT);
    o[i] = _mm_cvtss_f32(_mm_cvtph_ps(half));
  }
}

// f8e5m2 is the upper half of f16's bits, so it is converted by way of f16.

HLOD_TARGET_HALF inline __m256 WidenEighths(__m128i words) {
  return _mm256_cvtph_ps(_mm_slli_epi16(words, 8));
}
// Returns the codes of sixteen elements, as words. The f16 are truncated, and their last bit is set where
// something was cut off, so that the second rounding, to nearest even, is the only one.
HLOD_TARGET_HALF inline __m256i RoundToEighths(const float* x) {
  const __m256 low = _mm256_loadu_ps(x), high = _mm256_loadu_ps(x + 8);
  const __m128i low_half = _mm256_cvtps_ph(low, _MM_FROUND_TO_ZERO);
  const __m128i high_half = _mm256_cvtps_ph(high, _MM_FROUND_TO_ZERO);
  const __m256 low_cut = _mm256_cmp_ps(_mm256_cvtph_ps(low_half), low, _CMP_NEQ_UQ);
  const __m256 high_cut = _mm256_cmp_ps(_mm256_cvtph_ps(high_half), high, _CMP_NEQ_UQ);
  constexpr int kInOrder = 0xd8;  // packs_epi32 takes turns with the lanes of its operands.
  const __m256i cut = _mm256_permute4x64_epi64(
      _mm256_packs_epi32(_mm256_castps_si256(low_cut), _mm256_castps_si256(high_cut)), kInOrder);
  const __m256i halves = _mm256_inserti128_si256(_mm256_castsi128_si256(low_half), high_half, 1);
  const __m256i nan = _mm256_set1_epi16(0x7e00);  // The least of the quiet NaNs, whose bits are the largest.
  __m256i magnitude = _mm256_min_epu16(_mm256_and_si256(halves, _mm256_set1_epi16(0x7fff)), nan);
  magnitude = _mm256_or_si256(magnitude, _mm256_srli_epi16(cut, 15));
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(magnitude, 8), _mm256_set1_epi16(1));
  const __m256i up = _mm256_add_epi16(_mm256_add_epi16(magnitude, _mm256_set1_epi16(0x7f)), odd);
  const __m256i sign = _mm256_and_si256(_mm256_srli_epi16(halves, 8), _mm256_set1_epi16(0x80));
  return _mm256_or_si256(_mm256_srli_epi16(up, 8), sign);
}

HLOD_TARGET_HALF void LoadEighths(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const uint8_t*>(a);
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(o + i, WidenEighths(_mm_cvtepu8_epi16(bytes)));
  }
  for (; i < n; ++i) o[i] = WidenSmall(hlo::F8E5M2::FromBits(x[i]));
}
HLOD_TARGET_HALF void StoreEighths(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<uint8_t*>(out);
  const auto* x = static_cast<const float*>(a);
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i words = RoundToEighths(x + i);
    const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(o + i), bytes);
  }
  for (; i < n; ++i) o[i] = RoundToSmall<hlo::F8E5M2>(x[i]).bits();
}
HLOD_TARGET_HALF void NarrowToEighths(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  int i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m256i words = RoundToEighths(x + i);
    _mm256_storeu_ps(o + i, WidenEighths(_mm256_castsi256_si128(words)));
    _mm256_storeu_ps(o + i + 8, WidenEighths(_mm256_extracti128_si256(words, 1)));
  }
  for (; i < n; ++i) o[i] = WidenSmall(RoundToSmall<hlo::F8E5M2>(x[i]));
}

// Returns null for other types, and if these instructions are not used.
TileFunction HalfFunction(PrimitiveType type, Half which) {
  if (!UsesCpuExtension(CpuExtension::kF16c)) return nullptr;
  if (type == hlo::kF16)
    return which == Half::kLoad ? &LoadHalves : which == Half::kStore ? &StoreHalves : &NarrowToHalves;
  if (type == hlo::kF8E5M2)
    return which == Half::kLoad ? &LoadEighths : which == Half::kStore ? &StoreEighths : &NarrowToEighths;
  return nullptr;
}
#else
TileFunction HalfFunction(PrimitiveType, Half) { return nullptr; }
#endif

// Counts the ones in words of 32 bits (VPOPCNTDQ). Null where that is not used, and for other carriers.
#if defined(HLOD_TARGET_POPCNT)
HLOD_TARGET_POPCNT void PopcntWords(void* out, const void* a, const void*, const void*, int n,
                                    int64_t width) {
  auto* o = static_cast<uint32_t*>(out);
  const auto* x = static_cast<const uint32_t*>(a);
  const uint32_t own = ~uint32_t{0} >> (32 - width);
  for (int i = 0; i < n; ++i) o[i] = static_cast<uint32_t>(__builtin_popcount(x[i] & own));
}
TileFunction NativePopcnt(Carrier carrier) {
  const bool words = carrier == Carrier::kI32 || carrier == Carrier::kU32;
  return words && UsesCpuExtension(CpuExtension::kVpopcntdq) ? &PopcntWords : nullptr;
}
#else
TileFunction NativePopcnt(Carrier) { return nullptr; }
#endif
