// Element types that C++ lacks: 16-, 8- and 4-bit floats and sub-byte integers, with conversions that round
// once, to nearest even. Formats: IEEE 754 half; bfloat16; the OCP 8-bit and MX specifications; FNUZ variants
// per Graphcore/AMD (arXiv 2206.02915).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace hlod::hlo {

// The behaviour of a small float type at the top of its range and around zero.
enum class FloatFlavor : uint8_t {
  kIeee,          // Infinities and NaNs at the all-ones exponent.
  kFiniteNan,     // FN: no infinity; NaN is all ones; overflow becomes NaN.
  kUnsignedZero,  // FNUZ: no infinity, no -0; NaN is the bit pattern of -0; overflow becomes NaN.
  kFinite,        // f4, f6: neither infinity nor NaN; overflow saturates, NaN becomes -0 as in ml_dtypes.
  kPowerOfTwo,    // E8M0: only an unsigned exponent; NaN is all ones; zero and negatives have no value.
};

template <typename StorageT, int ExponentBits, int MantissaBits, int Bias, FloatFlavor kFlavor>
class SmallFloat {
 public:
  using Storage = StorageT;
  static constexpr int kExponentBits = ExponentBits, kMantissaBits = MantissaBits, kBias = Bias;
  static constexpr FloatFlavor kFloatFlavor = kFlavor;
  static constexpr bool kHasInfinity = kFlavor == FloatFlavor::kIeee;
  static constexpr bool kHasNan = kFlavor != FloatFlavor::kFinite;

  constexpr SmallFloat() = default;
  explicit SmallFloat(double value) : bits_(Encode(value)) {}
  explicit SmallFloat(float value) : bits_(EncodeFloat(value)) {}
  template <typename T>
    requires std::is_integral_v<T>
  explicit SmallFloat(T value) : SmallFloat(static_cast<double>(value)) {}

  static constexpr SmallFloat FromBits(Storage bits) {
    SmallFloat f;
    f.bits_ = bits;
    return f;
  }
  constexpr Storage bits() const { return bits_; }

  operator float() const { return Decode(bits_); }

 private:
  static constexpr bool kSigned = kFlavor != FloatFlavor::kPowerOfTwo;
  static constexpr Storage kSignBit = kSigned ? static_cast<Storage>(1u << (ExponentBits + MantissaBits)) : 0;
  static constexpr uint32_t kMantissaMask = (1u << MantissaBits) - 1;
  static constexpr uint32_t kExponentMask = (1u << ExponentBits) - 1;
  static constexpr Storage kNan = kFlavor == FloatFlavor::kIeee
                                      ? static_cast<Storage>((kExponentMask << MantissaBits) |
                                                             (1u << (MantissaBits ? MantissaBits - 1 : 0)))
                                  : kFlavor == FloatFlavor::kUnsignedZero ? kSignBit
                                  : kFlavor == FloatFlavor::kFinite
                                      ? kSignBit
                                      : static_cast<Storage>((kExponentMask << MantissaBits) | kMantissaMask);
  // The bits of the largest finite value, without the sign.
  static constexpr uint32_t kMaxFinite =
      kFlavor == FloatFlavor::kIeee ? ((kExponentMask << MantissaBits) - 1)
      : kFlavor == FloatFlavor::kFiniteNan || kFlavor == FloatFlavor::kPowerOfTwo
          ? (((kExponentMask << MantissaBits) | kMantissaMask) - 1)
          : ((kExponentMask << MantissaBits) | kMantissaMask);

  static float Decode(Storage bits) {
    if constexpr (ExponentBits == 8 && MantissaBits == 7) {
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    } else if constexpr (kFlavor == FloatFlavor::kPowerOfTwo) {
      return bits == kNan ? std::numeric_limits<float>::quiet_NaN()
                          : std::ldexp(1.0f, static_cast<int>(bits) - Bias);
    } else {
      const bool negative = (bits & kSignBit) != 0;
      const uint32_t exponent = (bits >> MantissaBits) & kExponentMask, mantissa = bits & kMantissaMask;
      if constexpr (kFlavor == FloatFlavor::kUnsignedZero) {
        if (bits == kNan) return std::numeric_limits<float>::quiet_NaN();
      }
      if constexpr (kFlavor == FloatFlavor::kFiniteNan) {
        if ((bits & ~kSignBit) == kNan) {
          return negative ? -std::numeric_limits<float>::quiet_NaN()
                          : std::numeric_limits<float>::quiet_NaN();
        }
      }
      if constexpr (kFlavor == FloatFlavor::kIeee) {
        if (exponent == kExponentMask) {
          const uint32_t wide =
              (negative ? 0x80000000u : 0u) | 0x7f800000u | (mantissa << (23 - MantissaBits));
          return std::bit_cast<float>(wide);
        }
      }
      const float magnitude = exponent == 0
                                  ? std::ldexp(static_cast<float>(mantissa), 1 - Bias - MantissaBits)
                                  : std::ldexp(static_cast<float>(mantissa | (1u << MantissaBits)),
                                               static_cast<int>(exponent) - Bias - MantissaBits);
      return negative ? -magnitude : magnitude;
    }
  }

  static Storage EncodeFloat(float value) {
    if constexpr (ExponentBits == 8 && MantissaBits == 7) {
      const uint32_t wide = std::bit_cast<uint32_t>(value);
      if ((wide & 0x7fffffffu) > 0x7f800000u) return static_cast<Storage>((wide >> 16) | 0x40u);
      return static_cast<Storage>((wide + 0x7fffu + ((wide >> 16) & 1u)) >> 16);
    } else {
      return Encode(static_cast<double>(value));
    }
  }

  static Storage Encode(double value) {
    const Storage sign = std::signbit(value) ? kSignBit : Storage{0};
    if (std::isnan(value)) {
      return kFlavor == FloatFlavor::kUnsignedZero || kFlavor == FloatFlavor::kFinite
                 ? kNan
                 : static_cast<Storage>(kNan | sign);
    }
    if constexpr (kFlavor == FloatFlavor::kPowerOfTwo) {
      if (!(value > 0)) return kNan;
    }
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return Overflow(sign);
    if (magnitude == 0) return kFlavor == FloatFlavor::kUnsignedZero ? Storage{0} : sign;
    int exponent;
    std::frexp(magnitude, &exponent);
    exponent -= 1;  // magnitude = 1.m * 2^exponent
    // The spacing is constant below the smallest normal exponent. (E8M0 has no subnormals: its range starts
    // at 2^-Bias.)
    constexpr int kMinExponent = kFlavor == FloatFlavor::kPowerOfTwo ? -Bias : 1 - Bias;
    const int grid = (exponent < kMinExponent ? kMinExponent : exponent) - MantissaBits;
    double steps = std::nearbyint(std::ldexp(magnitude, -grid));  // Rounds in the default mode: ties to even.
    int stored_exponent = grid + MantissaBits + Bias;
    if (steps >= std::ldexp(1.0, MantissaBits + 1)) {
      steps /= 2;
      stored_exponent += 1;
    }
    uint32_t bits;
    if constexpr (kFlavor == FloatFlavor::kPowerOfTwo) {
      if (steps == 0) steps = 1;
      bits = stored_exponent < 0 ? 0 : static_cast<uint32_t>(stored_exponent);
    } else if (steps < std::ldexp(1.0, MantissaBits)) {
      bits = static_cast<uint32_t>(steps);  // The number is subnormal, or zero.
    } else {
      bits = (static_cast<uint32_t>(stored_exponent) << MantissaBits) |
             (static_cast<uint32_t>(steps) & kMantissaMask);
      if (stored_exponent > static_cast<int>(kExponentMask)) return Overflow(sign);
    }
    if (bits > kMaxFinite) return Overflow(sign);
    if (kFlavor == FloatFlavor::kUnsignedZero && bits == 0) return 0;
    return static_cast<Storage>(bits | sign);
  }

  static Storage Overflow(Storage sign) {
    if constexpr (kFlavor == FloatFlavor::kIeee)
      return static_cast<Storage>((kExponentMask << MantissaBits) | sign);
    if constexpr (kFlavor == FloatFlavor::kFinite) return static_cast<Storage>(kMaxFinite | sign);
    return kFlavor == FloatFlavor::kUnsignedZero ? kNan : static_cast<Storage>(kNan | sign);
  }

  Storage bits_ = 0;
};

using F16 = SmallFloat<uint16_t, 5, 10, 15, FloatFlavor::kIeee>;
using BF16 = SmallFloat<uint16_t, 8, 7, 127, FloatFlavor::kIeee>;
using F8E5M2 = SmallFloat<uint8_t, 5, 2, 15, FloatFlavor::kIeee>;
using F8E4M3 = SmallFloat<uint8_t, 4, 3, 7, FloatFlavor::kIeee>;
using F8E3M4 = SmallFloat<uint8_t, 3, 4, 3, FloatFlavor::kIeee>;
using F8E4M3FN = SmallFloat<uint8_t, 4, 3, 7, FloatFlavor::kFiniteNan>;
using F8E4M3B11FNUZ = SmallFloat<uint8_t, 4, 3, 11, FloatFlavor::kUnsignedZero>;
using F8E4M3FNUZ = SmallFloat<uint8_t, 4, 3, 8, FloatFlavor::kUnsignedZero>;
using F8E5M2FNUZ = SmallFloat<uint8_t, 5, 2, 16, FloatFlavor::kUnsignedZero>;
using F4E2M1FN = SmallFloat<uint8_t, 2, 1, 1, FloatFlavor::kFinite>;
using F6E2M3FN = SmallFloat<uint8_t, 2, 3, 1, FloatFlavor::kFinite>;
using F6E3M2FN = SmallFloat<uint8_t, 3, 2, 3, FloatFlavor::kFinite>;
using F8E8M0FNU = SmallFloat<uint8_t, 8, 0, 127, FloatFlavor::kPowerOfTwo>;

// An integer of 1, 2 or 4 bits stored in a byte, sign- or zero-extended. Construction wraps as two's
// complement does.
template <int Bits, bool Signed>
class SmallInt {
 public:
  constexpr SmallInt() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  constexpr explicit SmallInt(T value) : value_(Wrap(static_cast<int64_t>(value))) {}
  constexpr operator int() const { return value_; }
  static constexpr int kMin = Signed ? -(1 << (Bits - 1)) : 0;
  static constexpr int kMax = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
  static constexpr int kBits = Bits;
  static constexpr bool kSigned = Signed;

 private:
  static constexpr int8_t Wrap(int64_t value) {
    const uint64_t low = static_cast<uint64_t>(value) & ((1u << Bits) - 1);
    const bool negative = Signed && (low >> (Bits - 1)) != 0;
    return static_cast<int8_t>(negative ? static_cast<int64_t>(low) - (1 << Bits)
                                        : static_cast<int64_t>(low));
  }
  int8_t value_ = 0;
};
using S1 = SmallInt<1, true>;
using S2 = SmallInt<2, true>;
using S4 = SmallInt<4, true>;
using U1 = SmallInt<1, false>;
using U2 = SmallInt<2, false>;
using U4 = SmallInt<4, false>;

template <typename T>
inline constexpr bool kIsSmallFloat = false;
template <typename S, int E, int M, int B, FloatFlavor F>
inline constexpr bool kIsSmallFloat<SmallFloat<S, E, M, B, F>> = true;
template <typename T>
inline constexpr bool kIsSmallInt = false;
template <int B, bool S>
inline constexpr bool kIsSmallInt<SmallInt<B, S>> = true;

}  // namespace hlod::hlo
