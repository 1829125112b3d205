// Compare, select and clamp. Included only by ops_impl.h, inside its namespace.

// compare: the immediate's low byte is the direction in the order of hlo::ComparisonDirection.
template <int kDirection>
struct Compare {
  template <typename T>
  HLOD_INLINE uint8_t Do(T a, T b, int64_t) {
    if constexpr (kDirection == 0) return a == b;
    else if constexpr (kDirection == 1) return a != b;
    else if constexpr (kDirection == 2) return a >= b;
    else if constexpr (kDirection == 3) return a > b;
    else if constexpr (kDirection == 4) return a <= b;
    else return a < b;
  }
};
// TOTALORDER: as integers, with negative ones mirrored, the bits are in the order of the standard's
// totalOrder.
template <int kDirection>
struct CompareTotal {
  HLOD_INLINE uint8_t Do(float a, float b, int64_t) {
    return Compare<kDirection>::Do(Key<int32_t>(a), Key<int32_t>(b), 0);
  }
  HLOD_INLINE uint8_t Do(double a, double b, int64_t) {
    return Compare<kDirection>::Do(Key<int64_t>(a), Key<int64_t>(b), 0);
  }
  template <typename I, typename T>
  HLOD_INLINE I Key(T value) {
    const I bits = __builtin_bit_cast(I, value);
    return bits < 0 ? static_cast<I>(~bits ^ static_cast<I>(Unsigned<I>{1} << (sizeof(I) * 8 - 1))) : bits;
  }
};

struct SelectElement {
  template <typename T>
  HLOD_INLINE T Do(uint8_t p, T a, T b) {
    return p != 0 ? a : b;
  }
};
struct ClampElement {
  template <typename T>
  HLOD_INLINE T Do(T low, T x, T high) {
    return Minimum::Do(Maximum::Do(low, x, 0), high, 0);
  }
};

// compare by the direction in the immediate, with one dispatch per tile.
template <typename T>
void CompareAny(void* out, const void* a, const void* b, const void* c, int n, int64_t immediate) {
  static constexpr TileFunction kOrdinary[] = {
      &Binary<Compare<0>, uint8_t, T>, &Binary<Compare<1>, uint8_t, T>, &Binary<Compare<2>, uint8_t, T>,
      &Binary<Compare<3>, uint8_t, T>, &Binary<Compare<4>, uint8_t, T>, &Binary<Compare<5>, uint8_t, T>};
  if constexpr (kIsFloat<T>) {
    static constexpr TileFunction kTotal[] = {
        &Binary<CompareTotal<0>, uint8_t, T>, &Binary<CompareTotal<1>, uint8_t, T>,
        &Binary<CompareTotal<2>, uint8_t, T>, &Binary<CompareTotal<3>, uint8_t, T>,
        &Binary<CompareTotal<4>, uint8_t, T>, &Binary<CompareTotal<5>, uint8_t, T>};
    if ((immediate >> 8) != 0) return kTotal[immediate & 0xff](out, a, b, c, n, immediate);
  }
  kOrdinary[immediate & 0xff](out, a, b, c, n, immediate);
}
