// Arithmetic and bits on one element. Included only by ops_impl.h, inside its namespace.

// Elementwise rules. Special cases of integers are HLO's (operation semantics). Arithmetic wraps, so it is
// done on unsigned types.
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
// Returns an integer of at most 32 bits as a double, by its bits where no instruction converts vectors of
// unsigned ones.
template <typename T>
HLOD_INLINE double WideOf(T value) {
  if constexpr (std::is_signed_v<T>) return static_cast<double>(static_cast<int32_t>(value));
  else
    return __builtin_bit_cast(double, uint64_t{0x433} << 52 | static_cast<uint32_t>(value)) -
           4503599627370496.0;
}
// Returns a / b, truncated, of integers of at most 32 bits, by doubles, so that loops can be vectorised.
// Their quotient's last place is finer than its distance from the next integer, so that it is not rounded up
// to it. REQUIRES: b != 0. The greatest negative number over -1 wraps.
#if defined(HLOD_TILE_ROUNDS)
template <typename T>
HLOD_INLINE T QuotientBelow64(T a, T b) {
  // The sum of 1.5 * 2^52 and an integer has the integer's bits.
  constexpr double kMagic = 6755399441055744.0;
  const double quotient = WideOf(a) / WideOf(b);
  return static_cast<T>(__builtin_bit_cast(uint64_t, __builtin_trunc(quotient) + kMagic));
}
#else
template <typename T>
HLOD_INLINE T QuotientBelow64(T a, T b) {
  return static_cast<T>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}
#endif
struct Divide {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsFloat<T>) {
      return a / b;
    } else if constexpr (sizeof(T) < 8) {
      const T quotient = QuotientBelow64(a, b == 0 ? T{1} : b);
      return b == 0 ? static_cast<T>(~T{0}) : quotient;
    } else if constexpr (std::is_signed_v<T>) {
      if (b == 0) return T{-1};
      if (b == -1) return Wrapping<T>(Unsigned<T>{0} - static_cast<Unsigned<T>>(a));
      return a / b;
    } else {
      return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
    }
  }
};
struct Remainder {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t) {
    if constexpr (kIsFloat<T>) {
      return std::fmod(a, b);
    } else if constexpr (sizeof(T) < 8) {
      const auto quotient = static_cast<Unsigned<T>>(QuotientBelow64(a, b == 0 ? T{1} : b));
      return Wrapping<T>(static_cast<Unsigned<T>>(a) - quotient * static_cast<Unsigned<T>>(b));
    } else {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return a % b;
    }
  }
};
// For floats.
struct Power {
  template <typename T>
  HLOD_INLINE T Do(T base, T exponent, int64_t) {
    return hlo::RealPower(base, exponent);
  }
};
// Raises integers to powers by squaring, for all elements of a block at once, with one iteration per bit of
// the largest exponent.
template <typename T>
HLOD_TARGET void PowerOfIntegers(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  constexpr int kBlock = 64;
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = n - begin < kBlock ? n - begin : kBlock;
    Unsigned<T> result[kBlock], factor[kBlock], left[kBlock], all = 0;
    T base[kBlock], exponent[kBlock];
    for (int i = 0; i < count; ++i) {
      base[i] = x[begin + i];
      exponent[i] = y[begin + i];
      result[i] = 1;
      factor[i] = static_cast<Unsigned<T>>(base[i]);
      left[i] = std::is_signed_v<T> && exponent[i] < 0 ? 0 : static_cast<Unsigned<T>>(exponent[i]);
      all |= left[i];
    }
    for (; all != 0; all >>= 1) {
      for (int i = 0; i < count; ++i) {
        result[i] *= (left[i] & 1) != 0 ? factor[i] : 1;
        factor[i] *= factor[i];
        left[i] >>= 1;
      }
    }
    for (int i = 0; i < count; ++i) {
      T value = static_cast<T>(result[i]);
      if constexpr (std::is_signed_v<T>) {
        const T odd = (exponent[i] & 1) != 0 ? T{-1} : T{1};
        const T inverse = base[i] == 1 ? T{1} : base[i] == -1 ? odd : T{0};
        value = exponent[i] < 0 ? inverse : value;
      }
      o[begin + i] = value;
    }
  }
}
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
  HLOD_INLINE float Do(float a, float b, int64_t) { return Atan2Of(a, b); }
  HLOD_INLINE double Do(double a, double b, int64_t) { return std::atan2(a, b); }
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
// The immediate is the type's width: a shift by that much or more shifts all bits out. A negative amount
// counts as a huge unsigned one.
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
               : static_cast<T>((static_cast<UnsignedOf<T>>(a) & mask) >> (amount & (sizeof(T) * 8 - 1)));
  }
};
struct ShiftRightArithmetic {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t width) {
    const auto amount = static_cast<Unsigned<T>>(b), limit = static_cast<Unsigned<T>>(width);
    // An arithmetic shift of an unsigned type fills with its top bit, like that of the signed type.
    const int up = static_cast<int>(sizeof(T) * 8 - limit);
    const auto wide = static_cast<SignedOf<T>>(static_cast<UnsignedOf<T>>(a) << up) >> up;
    const Unsigned<T> by = amount >= limit ? limit - 1 : amount;
    return static_cast<T>(wide >> by);
  }
};

// Returns the upper half of the product, which has twice the immediate's width.
struct MultiplyHigh {
  template <typename T>
  HLOD_INLINE T Do(T a, T b, int64_t width) {
    using Double = std::conditional_t<sizeof(T) == 8,
                                      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                                      std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    return static_cast<T>((static_cast<Double>(a) * static_cast<Double>(b)) >> width);
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
    if constexpr (kIsFloat<T>)
      return a > 0   ? T{1}
             : a < 0 ? T{-1}
                     : a;  // Zeros and NaN are returned
                           // unchanged.
    else return static_cast<T>((a > 0) - (a < 0));
  }
};
// Adds ones in pairs, fours and eights, and the bytes by one product, which can be vectorised for every
// instruction set.
template <typename U>
HLOD_INLINE U CountOnes(U bits) {
  constexpr U kOnes = static_cast<U>(~U{0});
  bits = static_cast<U>(bits - (bits >> 1 & kOnes / 3));
  bits = static_cast<U>((bits & kOnes / 5) + (bits >> 2 & kOnes / 5));
  bits = static_cast<U>((bits + (bits >> 4)) & kOnes / 17);
  if constexpr (sizeof(U) == 2)
    return (bits + (bits >> 8)) & 0x1f;  // The product of this width could not be vectorised.
  else return static_cast<U>(bits * static_cast<U>(kOnes / 255)) >> (sizeof(U) * 8 - 8);
}
// The immediate is the type's width: the bits above it are the sign of a narrower integer.
template <typename T>
HLOD_INLINE UnsignedOf<T> OwnBits(T a, int64_t width) {
  return static_cast<UnsignedOf<T>>(
      static_cast<UnsignedOf<T>>(a) &
      static_cast<UnsignedOf<T>>(static_cast<UnsignedOf<T>>(~UnsignedOf<T>{0}) >> (sizeof(T) * 8 - width)));
}
struct Popcnt {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t width) {
    return static_cast<T>(CountOnes(OwnBits(a, width)));
  }
};
// Uses the exponent of the number converted to a float. The bit below the highest one is cleared before, so
// that the conversion does not round up.
template <typename U, typename Float, int kBias, int kMantissa>
HLOD_INLINE U Height(U bits) {
  const auto exact = static_cast<Float>(bits & ~(bits >> 1));
  const U exponent = __builtin_bit_cast(U, exact) >> kMantissa;
  return bits == 0 ? U{0} : exponent - (kBias - 1);
}
struct Clz {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t width) {
    UnsignedOf<T> bits = OwnBits(a, width);
    if constexpr (sizeof(T) == 8) {
      return static_cast<T>(static_cast<uint64_t>(width) - Height<uint64_t, double, 1023, 52>(bits));
    } else if constexpr (sizeof(T) > 1) {
      return static_cast<T>(static_cast<uint32_t>(width) - Height<uint32_t, float, 127, 23>(bits));
    } else {
      for (int step = 1; step < 8; step *= 2) bits = static_cast<UnsignedOf<T>>(bits | bits >> step);
      return static_cast<T>(width - CountOnes(bits));
    }
  }
};
struct IsFinite {
  template <typename T>
  HLOD_INLINE uint8_t Do(T a, int64_t) {
    return std::fabs(a) < static_cast<T>(__builtin_inf());
  }
};
// immediate = exponent bits | mantissa bits << 8. Rounds the mantissa to nearest even, then replaces
// out-of-range values by infinity or zero.
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
