// Conversions between carriers, and between a carrier and memory. Included only by ops_impl.h, inside its
// namespace.

#if defined(HLOD_SPLIT_CONVERSIONS)
// Converts a float to an integer of 64 bits, for processors without vectors of such conversions: two halves
// of 32 bits are whole numbers in double, and adding 2^52 shifts each into the low bits of its mantissa.
template <typename To>
HLOD_INLINE To ConvertInHalves(double a) {
  constexpr bool kSigned = std::is_signed_v<To>;
  constexpr double kEnd = kSigned ? 9223372036854775808.0 : 18446744073709551616.0;
  constexpr double kHalf = 4294967296.0, kMagic = 4503599627370496.0;
  constexpr auto kMagicBits = __builtin_bit_cast(uint64_t, kMagic);
  const double size = kSigned ? Abs(a) : a;
  const double whole = __builtin_trunc(size > 0 && size < kEnd ? size : 0.0);
  const double high = __builtin_trunc(whole * (1 / kHalf)), low = whole - high * kHalf;
  const uint64_t magnitude = (__builtin_bit_cast(uint64_t, high + kMagic) ^ kMagicBits) << 32 |
                             (__builtin_bit_cast(uint64_t, low + kMagic) ^ kMagicBits);
  const uint64_t value = kSigned && a < 0 ? 0 - magnitude : magnitude;
  constexpr auto kMaximum = static_cast<uint64_t>(std::numeric_limits<To>::max()),
                 kMinimum = static_cast<uint64_t>(std::numeric_limits<To>::min());
  return static_cast<To>(a >= kEnd ? kMaximum : kSigned && a <= -kEnd ? kMinimum : value);
}
#endif

// Conversions between carriers truncate and saturate; NaN becomes zero. pred is true when the value is not
// zero.
template <typename To>
struct ConvertTo {
  template <typename From>
  HLOD_INLINE To Do(From a, int64_t) {
    if constexpr (kIsPred<To>) {
      return a != From{0};
#if defined(HLOD_SPLIT_CONVERSIONS)
    } else if constexpr (kIsFloat<From> && !kIsFloat<To> && sizeof(To) == 8) {
      return ConvertInHalves<To>(a);
#endif
    } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
      constexpr From low =
          std::is_signed_v<To> ? -static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1)) : From{0};
      constexpr From high = std::is_signed_v<To>
                                ? static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1))
                                : static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1)) * 2;
      constexpr To maximum = std::numeric_limits<To>::max(), minimum = std::numeric_limits<To>::min();
      const From inside = a > low && a < high ? a : From{0};
      // The types that processors can convert to.
      using Through = std::conditional_t<sizeof(To) < 4, int32_t, To>;
      const To converted = static_cast<To>(static_cast<Through>(inside));
      return a >= high ? maximum : a <= low ? minimum : converted;
    } else {
      return static_cast<To>(a);
    }
  }
};
template <typename From, typename To>
TileFunction ConvertFunction() {
  if constexpr (std::is_same_v<From, To>) return nullptr;
  else return &Unary<ConvertTo<To>, To, From>;
}

// Converts to f32 with rounding to odd. For f64, a value that was rounded away from zero steps back, and an
// inexact mantissa ends in a one. For integers, the lowest bits are dropped, and the bit above them is set if
// they were not all zero, so that the remaining bits are exact in the intermediate float.
HLOD_INLINE float OddFloat(double a) {
  const float nearest = static_cast<float>(a);
  const double back = nearest;
  const uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  const uint32_t toward_zero = std::fabs(back) > std::fabs(a) ? bits - 1 : bits;
  return FromBits(back != a ? toward_zero | 1u : bits);
}
template <int kBits, typename T>
HLOD_INLINE T OddInteger(T a) {
  constexpr int kDrop = sizeof(T) * 8 - kBits;
  constexpr T kExact = T{1} << kBits, kLow = (T{1} << kDrop) - 1;
  const bool exact = a <= kExact && (std::is_unsigned_v<T> || a >= static_cast<T>(-kExact));
  const T odd = static_cast<T>((a & ~kLow) | ((a & kLow) != 0 ? T{1} << kDrop : T{0}));
  return exact ? a : odd;
}
struct RoundToOdd {
  template <typename T>
  HLOD_INLINE float Do(T a, int64_t) {
    if constexpr (kIsFloat<T>) return OddFloat(a);
    else if constexpr (sizeof(T) == 8) return OddFloat(static_cast<double>(OddInteger<53>(a)));
    else return static_cast<float>(OddInteger<24>(a));
  }
};
TileFunction Odd(Carrier carrier) {
  switch (carrier) {
    case Carrier::kI32: return &Unary<RoundToOdd, float, int32_t>;
    case Carrier::kU32: return &Unary<RoundToOdd, float, uint32_t>;
    case Carrier::kI64: return &Unary<RoundToOdd, float, int64_t>;
    case Carrier::kU64: return &Unary<RoundToOdd, float, uint64_t>;
    case Carrier::kF64: return &Unary<RoundToOdd, float, double>;
    default: return nullptr;
  }
}

// Widening loads and narrowing stores.
template <typename Storage, typename T>
struct LoadElement {
  HLOD_INLINE T Do(Storage a, int64_t) {
    if constexpr (hlo::kIsSmallFloat<Storage>) return WidenSmall(a);
    else if constexpr (hlo::kIsSmallInt<Storage>) return static_cast<T>(static_cast<int>(a));
    else return static_cast<T>(a);
  }
};
template <typename Storage, typename T>
struct StoreElement {
  HLOD_INLINE Storage Do(T a, int64_t) {
    if constexpr (hlo::kIsSmallFloat<Storage>) return RoundToSmall<Storage>(a);
    else if constexpr (hlo::kIsSmallInt<Storage>) return Storage(a);
    else return static_cast<Storage>(a);
  }
};
template <typename Storage>
struct NarrowElement {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (hlo::kIsSmallFloat<Storage>) {
      return WidenSmall(RoundToSmall<Storage>(a));
    } else if constexpr (hlo::kIsSmallInt<Storage>) {
      constexpr int up = 32 - Storage::kBits;
      return static_cast<T>(static_cast<uint32_t>(a) << up) >> up;
    } else {
      return static_cast<T>(static_cast<Storage>(a));
    }
  }
};

// True when S, the type in memory, has the same bytes as the carrier T in which elements are computed.
template <typename S, typename T>
inline constexpr bool kIsStored =
    std::is_same_v<S, T> || (std::is_same_v<S, uint8_t> && std::is_same_v<T, Byte>);

// Calls f.operator()<Storage, CarrierType>() for a type that has a carrier.
template <typename F>
TileFunction ByStorage(PrimitiveType type, F f) {
  TileFunction result = nullptr;
  hlo::VisitType(type, [&]<typename Storage>() {
    if constexpr (std::is_same_v<Storage, bool>) result = f.template operator()<uint8_t, uint8_t>();
    else if constexpr (hlo::kIsSmallFloat<Storage>) result = f.template operator()<Storage, float>();
    else if constexpr (hlo::kIsSmallInt<Storage>)
      result = f.template operator()<Storage, std::conditional_t<Storage::kSigned, int32_t, uint32_t>>();
    else if constexpr (std::is_same_v<Storage, uint8_t>) result = f.template operator()<Storage, Byte>();
    else if constexpr (std::is_arithmetic_v<Storage>) result = f.template operator()<Storage, Storage>();
  });
  return result;
}

TileFunction Load(PrimitiveType type) {
  if (const TileFunction half = HalfFunction(type, Half::kLoad)) return half;
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (kIsStored<S, T>) return nullptr;
    else return &Unary<LoadElement<S, T>, T, S>;
  });
}
TileFunction Store(PrimitiveType type) {
  if (const TileFunction half = HalfFunction(type, Half::kStore)) return half;
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (kIsStored<S, T>) return nullptr;
    else return &Unary<StoreElement<S, T>, S, T>;
  });
}
TileFunction Narrow(PrimitiveType type) {
  if (const TileFunction half = HalfFunction(type, Half::kNarrow)) return half;
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (kIsStored<S, T>) return nullptr;
    else return &Unary<NarrowElement<S>, T, T>;
  });
}

template <typename From>
TileFunction ConvertFrom(Carrier to) {
  switch (to) {
    case Carrier::kPred: return ConvertFunction<From, uint8_t>();
    case Carrier::kI8: return ConvertFunction<From, int8_t>();
    case Carrier::kU8: return ConvertFunction<From, Byte>();
    case Carrier::kI16: return ConvertFunction<From, int16_t>();
    case Carrier::kU16: return ConvertFunction<From, uint16_t>();
    case Carrier::kI32: return ConvertFunction<From, int32_t>();
    case Carrier::kU32: return ConvertFunction<From, uint32_t>();
    case Carrier::kI64: return ConvertFunction<From, int64_t>();
    case Carrier::kU64: return ConvertFunction<From, uint64_t>();
    case Carrier::kF32: return ConvertFunction<From, float>();
    case Carrier::kF64: return ConvertFunction<From, double>();
    case Carrier::kC64: return &Unary<ToComplex<float>, Complex<float>, From>;
    case Carrier::kC128: return &Unary<ToComplex<double>, Complex<double>, From>;
  }
  return nullptr;
}

TileFunction Convert(Carrier from, Carrier to) {
  if (from == Carrier::kC64) return ConvertComplex<float, double>(to);
  if (from == Carrier::kC128) return ConvertComplex<double, float>(to);
  return ByCarrier<TileFunction>(from, [to]<typename T>() { return ConvertFrom<T>(to); });
}
