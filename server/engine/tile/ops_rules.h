// Arithmetic and bits on one element. Included only by ops_impl.h, inside its namespace.

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
