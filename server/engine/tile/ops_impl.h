// One instruction set's tile functions. Included by tile_ops_<set>.cc, which defines HLOD_TILE_SET (a
// namespace and the set's name) and HLOD_TARGET (the function attribute, possibly empty). Nothing here is
// shared between the sets: a function compiled for AVX-512 must never be the one that the linker keeps for
// all.
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "common/hlo/order.h"
#include "server/engine/tile/ops.h"

namespace hlod::engine {
namespace {
namespace HLOD_TILE_SET {

using hlo::Opcode;
using hlo::PrimitiveType;

#include "server/engine/tile/math.h"

template <Carrier kCarrier>
using TypeOf = std::conditional_t<
    kCarrier == Carrier::kPred, uint8_t,
    std::conditional_t<
        kCarrier == Carrier::kI32, int32_t,
        std::conditional_t<kCarrier == Carrier::kU32, uint32_t,
                           std::conditional_t<kCarrier == Carrier::kI64, int64_t,
                                              std::conditional_t<kCarrier == Carrier::kU64, uint64_t,
                                                                 std::conditional_t<kCarrier == Carrier::kF32,
                                                                                    float, double>>>>>>;
template <typename T>
inline constexpr bool kIsPred = std::is_same_v<T, uint8_t>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !kIsPred<T>;
template <typename T>
using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <typename T>
using SignedOf = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

// The loops. `ivdep`: an output is either one of the inputs, element for element, or apart from them.
template <typename F, typename Out, typename A>
HLOD_TARGET void Unary(void* out, const void* a, const void*, const void*, int n, int64_t immediate) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], immediate);
}
template <typename F, typename Out, typename A>
HLOD_TARGET void Binary(void* out, const void* a, const void* b, const void*, int n, int64_t immediate) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
  const A* y = static_cast<const A*>(b);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], y[i], immediate);
}
template <typename F, typename Out, typename A, typename B>
HLOD_TARGET void Ternary(void* out, const void* a, const void* b, const void* c, int n, int64_t) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
  const B* y = static_cast<const B*>(b);
  const B* z = static_cast<const B*>(c);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], y[i], z[i]);
}

// Elementwise rules. Integer corner cases are HLO's (operation semantics); arithmetic wraps, hence the
// unsigned detours.
template <typename T>
HLOD_INLINE T Wrapping(Unsigned<T> value) {
  return static_cast<T>(value);
}

struct Add {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsPred<T>) return a | b;
    else if constexpr (kIsFloat<T>) return a + b;
    else return Wrapping<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
  }
};
struct Subtract {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsPred<T>) return a ^ b;
    else if constexpr (kIsFloat<T>) return a - b;
    else return Wrapping<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
  }
};
struct Multiply {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsPred<T>) return a & b;
    else if constexpr (kIsFloat<T>) return a * b;
    else return Wrapping<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
  }
};
struct Divide {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsFloat<T>) {
      return a / b;
    } else if constexpr (std::is_signed_v<T>) {
      if (b == 0) return T{-1};
      if (b == -1) return Wrapping<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
      return a / b;
    } else {
      return b == 0 ? static_cast<T>(~T{0}) : a / b;
    }
  }
};
struct Remainder {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsFloat<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return a % b;
    }
  }
};
struct Power {
  template <typename T>
  HLOD_INLINE T Do(T base, T exponent, int64_t) {
    if constexpr (kIsFloat<T>) {
      return std::pow(base, exponent);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0;
      }
      Unsigned<T> result = 1, factor = static_cast<Unsigned<T>>(base);
      for (Unsigned<T> left = static_cast<Unsigned<T>>(exponent); left != 0; left >>= 1) {
        if ((left & 1) != 0) result *= factor;
        factor *= factor;
      }
      return static_cast<T>(result);
    }
  }
};
struct Maximum {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return hlo::Maximum(a, b);
  }
};
struct Minimum {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return hlo::Minimum(a, b);
  }
};
struct Atan2 {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return std::atan2(a, b);
  }
};
struct And {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return a & b;
  }
};
struct Or {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    return a ^ b;
  }
};
// The immediate is the type's width: an amount of that or more shifts everything out. A negative amount is a
// huge unsigned one.
struct ShiftLeft {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t width) {
    const auto amount = static_cast<Unsigned<T>>(b), limit = static_cast<Unsigned<T>>(width);
    return amount >= limit ? T{0}
                           : static_cast<T>(static_cast<Unsigned<T>>(a) << (amount & (sizeof(T) * 8 - 1)));
  }
};
struct ShiftRightLogical {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t width) {
    const auto amount = static_cast<Unsigned<T>>(b), limit = static_cast<Unsigned<T>>(width);
    const Unsigned<T> mask = ~Unsigned<T>{0} >> (sizeof(T) * 8 - limit);
    return amount >= limit
               ? T{0}
               : static_cast<T>((static_cast<Unsigned<T>>(a) & mask) >> (amount & (sizeof(T) * 8 - 1)));
  }
};
struct ShiftRightArithmetic {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t width) {
    const auto amount = static_cast<Unsigned<T>>(b), limit = static_cast<Unsigned<T>>(width);
    // An unsigned type shifts its own top bit in, as the signed type of its width would.
    const int up = static_cast<int>(sizeof(T) * 8 - limit);
    const auto wide = static_cast<SignedOf<T>>(static_cast<Unsigned<T>>(a) << up) >> up;
    const Unsigned<T> by = amount >= limit ? limit - 1 : amount;
    return static_cast<T>(wide >> by);
  }
};

struct AbsoluteValue {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (kIsFloat<T>) return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < 0 ? Wrapping<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a)) : a;
    else return a;
  }
};
struct Negate {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (kIsFloat<T>) return -a;
    else return Wrapping<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
  }
};
struct Not {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (kIsPred<T>) return a ^ 1;
    else return ~a;
  }
};
struct Sign {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (kIsFloat<T>) return a > 0 ? T{1} : a < 0 ? T{-1} : a;  // Zeros and NaN stay as they are.
    else return static_cast<T>((a > 0) - (a < 0));
  }
};
struct Popcnt {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t width) {
    const Unsigned<T> mask = ~Unsigned<T>{0} >> (sizeof(T) * 8 - width);
    return static_cast<T>(__builtin_popcountll(static_cast<Unsigned<T>>(a) & mask));
  }
};
struct Clz {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t width) {
    const Unsigned<T> mask = ~Unsigned<T>{0} >> (sizeof(T) * 8 - width);
    const uint64_t value = static_cast<Unsigned<T>>(a) & mask;
    return static_cast<T>(value == 0 ? width : __builtin_clzll(value) - (64 - width));
  }
};
struct IsFinite {
  template <typename T>
  HLOD_INLINE uint8_t Do(T a, int64_t) {
    return std::fabs(a) < static_cast<T>(__builtin_inf());
  }
};
// immediate = exponent bits | mantissa bits << 8. Rounds the mantissa to nearest even, then takes what is out
// of range to infinity or zero.
struct ReducePrecision {
  HLOD_INLINE float Do(float a, int64_t immediate) {
    return static_cast<float>(Generic<float, uint32_t, 8, 23>(a, immediate));
  }
  HLOD_INLINE double Do(double a, int64_t immediate) {
    return Generic<double, uint64_t, 11, 52>(a, immediate);
  }
  template <typename T, typename U, int kExponent, int kMantissa>
  HLOD_INLINE T Generic(T a, int64_t immediate) {
    const int exponent_bits = static_cast<int>(immediate & 0xff),
              mantissa_bits = static_cast<int>(immediate >> 8);
    U bits = __builtin_bit_cast(U, a);
    const U sign = bits & (U{1} << (kExponent + kMantissa));
    const int drop = mantissa_bits < kMantissa ? kMantissa - mantissa_bits : 0;
    if (drop > 0) {
      const U last = (bits >> drop) & 1;
      bits += ((U{1} << (drop - 1)) - 1) + last;
      bits &= ~((U{1} << drop) - 1);
    }
    if (exponent_bits < kExponent) {
      const U mask = ((U{1} << kExponent) - 1) << kMantissa;
      const U bias = (U{1} << (kExponent - 1)) - 1, reduced = (U{1} << (exponent_bits - 1)) - 1;
      const U exponent = bits & mask;
      const U infinity = mask;
      if (exponent > ((bias + reduced) << kMantissa)) bits = sign | infinity;
      else if (exponent <= ((bias - reduced) << kMantissa)) bits = sign;
    }
    return a != a ? a : __builtin_bit_cast(T, bits);
  }
};

// Floats: single precision vectorises through tile_math.h, the rest goes through the C library one by one.
#define HLOD_MATH(name, single, wide)                         \
  struct name {                                               \
    HLOD_INLINE float Do(float a, int64_t) { return single; } \
    HLOD_INLINE double Do(double a, int64_t) { return wide; } \
  };
HLOD_MATH(MathExp, Exp(a), std::exp(a))
HLOD_MATH(MathExpm1, Expm1(a), std::expm1(a))
HLOD_MATH(MathLog, Log(a), std::log(a))
HLOD_MATH(MathLog1p, Log1p(a), std::log1p(a))
HLOD_MATH(MathTanh, Tanh(a), std::tanh(a))
HLOD_MATH(MathLogistic, Logistic(a), 1.0 / (1.0 + std::exp(-a)))
HLOD_MATH(MathErf, Erf(a), std::erf(a))
HLOD_MATH(MathSqrt, __builtin_sqrtf(a), __builtin_sqrt(a))
HLOD_MATH(MathRsqrt, 1.0f / __builtin_sqrtf(a), 1.0 / __builtin_sqrt(a))
HLOD_MATH(MathCbrt, std::cbrt(a), std::cbrt(a))
HLOD_MATH(MathSin, std::sin(a), std::sin(a))
HLOD_MATH(MathCos, std::cos(a), std::cos(a))
HLOD_MATH(MathTan, std::tan(a), std::tan(a))
HLOD_MATH(MathAsin, std::asin(a), std::asin(a))
HLOD_MATH(MathAcos, std::acos(a), std::acos(a))
HLOD_MATH(MathAtan, std::atan(a), std::atan(a))
HLOD_MATH(MathSinh, std::sinh(a), std::sinh(a))
HLOD_MATH(MathCosh, std::cosh(a), std::cosh(a))
HLOD_MATH(MathAsinh, std::asinh(a), std::asinh(a))
HLOD_MATH(MathAcosh, std::acosh(a), std::acosh(a))
HLOD_MATH(MathAtanh, std::atanh(a), std::atanh(a))
HLOD_MATH(MathCeil, __builtin_ceilf(a), __builtin_ceil(a))
HLOD_MATH(MathFloor, __builtin_floorf(a), __builtin_floor(a))
HLOD_MATH(MathRoundAfz, __builtin_roundf(a), __builtin_round(a))
HLOD_MATH(MathRoundEven, __builtin_rintf(a), __builtin_rint(a))
#undef HLOD_MATH

// compare: the immediate's low byte is the direction in hlo::ComparisonDirection's order.
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
// TOTALORDER: the bits as an integer, negatives mirrored, sort as the standard's totalOrder does.
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

// Conversions between carriers: truncation, saturation, NaN to zero; to pred: is it not zero.
template <typename To>
struct ConvertTo {
  template <typename From>
  HLOD_INLINE To Do(From a, int64_t) {
    if constexpr (kIsPred<To>) {
      return a != From{0};
    } else if constexpr (kIsFloat<From> && !kIsFloat<To>) {
      constexpr From low =
          std::is_signed_v<To> ? -static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1)) : From{0};
      constexpr From high = std::is_signed_v<To>
                                ? static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1))
                                : static_cast<From>(Unsigned<To>{1} << (sizeof(To) * 8 - 1)) * 2;
      constexpr To maximum =
          std::is_signed_v<To> ? static_cast<To>(~Unsigned<To>{0} >> 1) : static_cast<To>(~Unsigned<To>{0});
      constexpr To minimum =
          std::is_signed_v<To> ? static_cast<To>(Unsigned<To>{1} << (sizeof(To) * 8 - 1)) : To{0};
      const From inside = a > low && a < high ? a : From{0};
      const To converted = static_cast<To>(inside);
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

// The lowest eight bits go, and leave a one above them when they were not all zero: 24 bits stay.
struct RoundToOdd {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    constexpr T kExact = T{1} << 24;
    const bool exact = a <= kExact && (std::is_unsigned_v<T> || a >= -kExact);
    const T odd = static_cast<T>((a & ~T{0xff}) | ((a & T{0xff}) != 0 ? T{0x100} : T{0}));
    return exact ? a : odd;
  }
};
TileFunction Odd(Carrier carrier) {
  switch (carrier) {
    case Carrier::kI32: return &Unary<RoundToOdd, int32_t, int32_t>;
    case Carrier::kU32: return &Unary<RoundToOdd, uint32_t, uint32_t>;
    default: return nullptr;
  }
}

// Widening loads and narrowing stores.
template <typename Storage, typename T>
struct LoadElement {
  HLOD_INLINE T Do(Storage a, int64_t) {
    if constexpr (std::is_same_v<Storage, hlo::BF16>) return FromBits(static_cast<uint32_t>(a.bits()) << 16);
    else if constexpr (hlo::kIsSmallFloat<Storage>) return static_cast<float>(a);
    else if constexpr (hlo::kIsSmallInt<Storage>) return static_cast<T>(static_cast<int>(a));
    else return static_cast<T>(a);
  }
};
template <typename Storage, typename T>
struct StoreElement {
  HLOD_INLINE Storage Do(T a, int64_t) {
    if constexpr (std::is_same_v<Storage, hlo::BF16>)
      return Storage::FromBits(static_cast<uint16_t>(Bits(a) >> 16));
    else if constexpr (hlo::kIsSmallFloat<Storage>) return Storage(a);
    else if constexpr (hlo::kIsSmallInt<Storage>) return Storage(a);
    else return static_cast<Storage>(a);
  }
};
template <typename Storage>
struct NarrowElement {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    if constexpr (std::is_same_v<Storage, hlo::BF16>) {
      const uint32_t bits = Bits(a);
      const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
      return FromBits((bits & 0x7fffffffu) > 0x7f800000u ? (bits | 0x00400000u) & 0xffff0000u : rounded);
    } else if constexpr (hlo::kIsSmallFloat<Storage>) {
      return static_cast<float>(Storage(a));
    } else if constexpr (hlo::kIsSmallInt<Storage>) {
      constexpr int up = 32 - Storage::kBits;
      return static_cast<T>(static_cast<uint32_t>(a) << up) >> up;
    } else {
      return static_cast<T>(static_cast<Storage>(a));
    }
  }
};

// Calls f.operator()<Storage, CarrierType>() for a type that has a carrier.
template <typename F>
TileFunction ByStorage(PrimitiveType type, F f) {
  TileFunction result = nullptr;
  hlo::VisitType(type, [&]<typename Storage>() {
    if constexpr (std::is_same_v<Storage, bool>) result = f.template operator()<uint8_t, uint8_t>();
    else if constexpr (hlo::kIsSmallFloat<Storage>) result = f.template operator()<Storage, float>();
    else if constexpr (hlo::kIsSmallInt<Storage>)
      result = f.template operator()<Storage, std::conditional_t<Storage::kSigned, int32_t, uint32_t>>();
    else if constexpr (std::is_integral_v<Storage> && sizeof(Storage) <= 4)
      result =
          f.template operator()<Storage, std::conditional_t<std::is_signed_v<Storage>, int32_t, uint32_t>>();
    else if constexpr (std::is_arithmetic_v<Storage>) result = f.template operator()<Storage, Storage>();
  });
  return result;
}

TileFunction Load(PrimitiveType type) {
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (std::is_same_v<S, T>) return nullptr;
    else return &Unary<LoadElement<S, T>, T, S>;
  });
}
TileFunction Store(PrimitiveType type) {
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (std::is_same_v<S, T>) return nullptr;
    else return &Unary<StoreElement<S, T>, S, T>;
  });
}
TileFunction Narrow(PrimitiveType type) {
  return ByStorage(type, []<typename S, typename T>() -> TileFunction {
    if constexpr (std::is_same_v<S, T>) return nullptr;
    else return &Unary<NarrowElement<S>, T, T>;
  });
}

template <typename From>
TileFunction ConvertFrom(Carrier to) {
  switch (to) {
    case Carrier::kPred: return ConvertFunction<From, uint8_t>();
    case Carrier::kI32: return ConvertFunction<From, int32_t>();
    case Carrier::kU32: return ConvertFunction<From, uint32_t>();
    case Carrier::kI64: return ConvertFunction<From, int64_t>();
    case Carrier::kU64: return ConvertFunction<From, uint64_t>();
    case Carrier::kF32: return ConvertFunction<From, float>();
    case Carrier::kF64: return ConvertFunction<From, double>();
  }
  return nullptr;
}

// Calls f.operator()<T>() with the carrier's type.
template <typename Result, typename F>
Result ByCarrier(Carrier carrier, F f) {
  switch (carrier) {
    case Carrier::kPred: return f.template operator()<uint8_t>();
    case Carrier::kI32: return f.template operator()<int32_t>();
    case Carrier::kU32: return f.template operator()<uint32_t>();
    case Carrier::kI64: return f.template operator()<int64_t>();
    case Carrier::kU64: return f.template operator()<uint64_t>();
    case Carrier::kF32: return f.template operator()<float>();
    case Carrier::kF64: return f.template operator()<double>();
  }
  return nullptr;
}
TileFunction Convert(Carrier from, Carrier to) {
  return ByCarrier<TileFunction>(from, [to]<typename T>() { return ConvertFrom<T>(to); });
}

// Which carriers an operation takes.
enum Takes { kAny, kNumber, kReal, kFloats, kBits, kIntegers };
template <Takes kTakes, typename T>
inline constexpr bool kAccepts = kTakes == kAny || (kTakes == kNumber && !kIsPred<T>) ||
                                 (kTakes == kReal && !kIsPred<T>) || (kTakes == kFloats && kIsFloat<T>) ||
                                 (kTakes == kBits && !kIsFloat<T>) || (kTakes == kIntegers && kIsInteger<T>);
template <typename F, Takes kTakes>
TileFunction UnaryOf(Carrier carrier) {
  return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction {
    if constexpr (kAccepts<kTakes, T>) return &Unary<F, T, T>;
    else return nullptr;
  });
}
template <typename F, Takes kTakes>
TileFunction BinaryOf(Carrier carrier) {
  return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction {
    if constexpr (kAccepts<kTakes, T>) return &Binary<F, T, T>;
    else return nullptr;
  });
}

// compare by the direction in the immediate: one dispatch a tile.
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

TileFunction Elementwise(Opcode opcode, Carrier carrier) {
  switch (opcode) {
    case hlo::kAdd: return BinaryOf<Add, kAny>(carrier);
    case hlo::kSubtract: return BinaryOf<Subtract, kNumber>(carrier);
    case hlo::kMultiply: return BinaryOf<Multiply, kAny>(carrier);
    case hlo::kDivide: return BinaryOf<Divide, kNumber>(carrier);
    case hlo::kRemainder: return BinaryOf<Remainder, kReal>(carrier);
    case hlo::kPower: return BinaryOf<Power, kNumber>(carrier);
    case hlo::kMaximum: return BinaryOf<Maximum, kAny>(carrier);
    case hlo::kMinimum: return BinaryOf<Minimum, kAny>(carrier);
    case hlo::kAtan2: return BinaryOf<Atan2, kFloats>(carrier);
    case hlo::kAnd: return BinaryOf<And, kBits>(carrier);
    case hlo::kOr: return BinaryOf<Or, kBits>(carrier);
    case hlo::kXor: return BinaryOf<Xor, kBits>(carrier);
    case hlo::kShiftLeft: return BinaryOf<ShiftLeft, kIntegers>(carrier);
    case hlo::kShiftRightLogical: return BinaryOf<ShiftRightLogical, kIntegers>(carrier);
    case hlo::kShiftRightArithmetic: return BinaryOf<ShiftRightArithmetic, kIntegers>(carrier);
    case hlo::kAbs: return UnaryOf<AbsoluteValue, kNumber>(carrier);
    case hlo::kNegate: return UnaryOf<Negate, kNumber>(carrier);
    case hlo::kNot: return UnaryOf<Not, kBits>(carrier);
    case hlo::kSign: return UnaryOf<Sign, kNumber>(carrier);
    case hlo::kPopcnt: return UnaryOf<Popcnt, kIntegers>(carrier);
    case hlo::kClz: return UnaryOf<Clz, kIntegers>(carrier);
    case hlo::kReducePrecision: return UnaryOf<ReducePrecision, kFloats>(carrier);
    case hlo::kExponential: return UnaryOf<MathExp, kFloats>(carrier);
    case hlo::kExponentialMinusOne: return UnaryOf<MathExpm1, kFloats>(carrier);
    case hlo::kLog: return UnaryOf<MathLog, kFloats>(carrier);
    case hlo::kLogPlusOne: return UnaryOf<MathLog1p, kFloats>(carrier);
    case hlo::kTanh: return UnaryOf<MathTanh, kFloats>(carrier);
    case hlo::kLogistic: return UnaryOf<MathLogistic, kFloats>(carrier);
    case hlo::kErf: return UnaryOf<MathErf, kFloats>(carrier);
    case hlo::kSqrt: return UnaryOf<MathSqrt, kFloats>(carrier);
    case hlo::kRsqrt: return UnaryOf<MathRsqrt, kFloats>(carrier);
    case hlo::kCbrt: return UnaryOf<MathCbrt, kFloats>(carrier);
    case hlo::kSine: return UnaryOf<MathSin, kFloats>(carrier);
    case hlo::kCosine: return UnaryOf<MathCos, kFloats>(carrier);
    case hlo::kTan: return UnaryOf<MathTan, kFloats>(carrier);
    case hlo::kAsin: return UnaryOf<MathAsin, kFloats>(carrier);
    case hlo::kAcos: return UnaryOf<MathAcos, kFloats>(carrier);
    case hlo::kAtan: return UnaryOf<MathAtan, kFloats>(carrier);
    case hlo::kSinh: return UnaryOf<MathSinh, kFloats>(carrier);
    case hlo::kCosh: return UnaryOf<MathCosh, kFloats>(carrier);
    case hlo::kAsinh: return UnaryOf<MathAsinh, kFloats>(carrier);
    case hlo::kAcosh: return UnaryOf<MathAcosh, kFloats>(carrier);
    case hlo::kAtanh: return UnaryOf<MathAtanh, kFloats>(carrier);
    case hlo::kCeil: return UnaryOf<MathCeil, kFloats>(carrier);
    case hlo::kFloor: return UnaryOf<MathFloor, kFloats>(carrier);
    case hlo::kRoundNearestAfz: return UnaryOf<MathRoundAfz, kFloats>(carrier);
    case hlo::kRoundNearestEven: return UnaryOf<MathRoundEven, kFloats>(carrier);
    case hlo::kIsFinite:
      if (carrier == Carrier::kF32) return &Unary<IsFinite, uint8_t, float>;
      return carrier == Carrier::kF64 ? &Unary<IsFinite, uint8_t, double> : nullptr;
    case hlo::kCompare:
      return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction { return &CompareAny<T>; });
    case hlo::kSelect:
      return ByCarrier<TileFunction>(
          carrier, []<typename T>() -> TileFunction { return &Ternary<SelectElement, T, uint8_t, T>; });
    case hlo::kClamp:
      return ByCarrier<TileFunction>(
          carrier, []<typename T>() -> TileFunction { return &Ternary<ClampElement, T, T, T>; });
    default: return nullptr;
  }
}

// Folds. Sums and products of floats are kept in double: the result then hardly depends on the order.
template <typename F, typename T>
using Accumulator =
    std::conditional_t<kIsFloat<T> && (std::is_same_v<F, Add> || std::is_same_v<F, Multiply>), double, T>;

template <typename F, typename T>
HLOD_TARGET void FoldAll(void* accumulator, const void* a, int n) {
  using A = Accumulator<F, T>;
  // Independent chains, so that the loop vectorises and does not wait for one addition after another.
  constexpr int kLanes = 16;
  const T* x = static_cast<const T*>(a);
  A total = *static_cast<A*>(accumulator);
  int i = 0;
  if (n >= 2 * kLanes) {
    A lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = static_cast<A>(x[lane]);
    for (i = kLanes; i + kLanes <= n; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane)
        lanes[lane] = F::Do(lanes[lane], static_cast<A>(x[i + lane]), 0);
    }
    // Pairwise: four joins after one another instead of sixteen.
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] = F::Do(lanes[lane], lanes[lane + half], 0);
    }
    total = F::Do(total, lanes[0], 0);
  }
  for (; i < n; ++i) total = F::Do(total, static_cast<A>(x[i]), 0);
  *static_cast<A*>(accumulator) = total;
}
template <typename F, typename T>
HLOD_TARGET void FoldEach(void* accumulators, const void* a, int n) {
  using A = Accumulator<F, T>;
  A* out = static_cast<A*>(accumulators);
  const T* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) out[i] = F::Do(out[i], static_cast<A>(x[i]), 0);
}
template <typename F, Takes kTakes, bool kColumns>
FoldFunction FoldOf(Carrier carrier) {
  return ByCarrier<FoldFunction>(carrier, []<typename T>() -> FoldFunction {
    if constexpr (!kAccepts<kTakes, T>) return nullptr;
    else if constexpr (kColumns) return &FoldEach<F, T>;
    else return &FoldAll<F, T>;
  });
}
template <bool kColumns>
FoldFunction FoldFor(FoldOp op, Carrier carrier) {
  switch (op) {
    case FoldOp::kAdd: return FoldOf<Add, kAny, kColumns>(carrier);
    case FoldOp::kMultiply: return FoldOf<Multiply, kAny, kColumns>(carrier);
    case FoldOp::kMinimum: return FoldOf<Minimum, kAny, kColumns>(carrier);
    case FoldOp::kMaximum: return FoldOf<Maximum, kAny, kColumns>(carrier);
    case FoldOp::kAnd: return FoldOf<And, kBits, kColumns>(carrier);
    case FoldOp::kOr: return FoldOf<Or, kBits, kColumns>(carrier);
    case FoldOp::kXor: return FoldOf<Xor, kBits, kColumns>(carrier);
  }
  return nullptr;
}

#undef HLOD_INLINE

#define HLOD_STRING_(x) #x
#define HLOD_STRING(x) HLOD_STRING_(x)
const TileOps kSet = {HLOD_STRING(HLOD_TILE_SET),
                      &Elementwise,
                      &Convert,
                      &Load,
                      &Store,
                      &Narrow,
                      &Odd,
                      &FoldFor<false>,
                      &FoldFor<true>};

}  // namespace HLOD_TILE_SET
}  // namespace
}  // namespace hlod::engine
