// Operations for which only some processors of an instruction set have instructions. Included only by
// ops_impl.h, inside its namespace.

// Converts f16 to f32 and back (F16C), eight elements at a time, with the same rounding as RoundToSmall.

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

// Returns null if these instructions are not used.
TileFunction HalfFunction(Half which) {
  if (!UsesCpuExtension(CpuExtension::kF16c)) return nullptr;
  return which == Half::kLoad ? &LoadHalves : which == Half::kStore ? &StoreHalves : &NarrowToHalves;
}
#else
TileFunction HalfFunction(Half) { return nullptr; }
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
