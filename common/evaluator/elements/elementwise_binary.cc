// Elementwise opcodes of two and three operands, on each carrier, with the special cases of integers.
#include <cmath>

#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/kernel.h"
#include "common/hlo/elements/complex_power.h"
#include "common/hlo/elements/real_power.h"

namespace hlod::evaluator {
namespace {

using hlo::Opcode;
using hlo::PrimitiveType;
using enum hlo::Opcode;

// x / 0 is all ones (-1); the only quotient that overflows, INT_MIN / -1, wraps to INT_MIN.
template <typename C>
C Quotient(C a, C b) {
  if (b == 0) return static_cast<C>(-1);
  if (std::is_signed_v<C> && b == static_cast<C>(-1)) return static_cast<C>(-static_cast<uint64_t>(a));
  return a / b;
}

// The remainder has the sign of the dividend; x rem 0 is x.
template <typename C>
C Remainder(C a, C b) {
  if (b == 0) return a;
  if (std::is_signed_v<C> && b == static_cast<C>(-1)) return 0;
  return a % b;
}

// Wraps like repeated multiplication. With a negative exponent the result is 0 unless the base is 1 or -1.
template <typename C>
C Power(C base, C exponent) {
  if (Less(exponent, C{0})) {
    if (base == static_cast<C>(-1)) return (exponent & 1) ? base : C{1};
    return base == 1 ? C{1} : C{0};
  }
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left != 0; left >>= 1) {
    if (left & 1) result *= square;
    square *= square;
  }
  return static_cast<C>(result);
}

// Returns the upper half of the product in twice the width.
template <typename C>
C HighProduct(C a, C b, int bits) {
  using Double = std::conditional_t<std::is_signed_v<C>, __int128, unsigned __int128>;
  return static_cast<C>((static_cast<Double>(a) * static_cast<Double>(b)) >> bits);
}

enum class Shift { kLeft, kRightLogical, kRightArithmetic };

// The amount is unsigned. If it exceeds the width, all bits are shifted out; an arithmetic shift fills with
// the sign.
template <typename C, Shift kShift>
C Shifted(C value, C amount, int bits) {
  const uint64_t by = LowBits(static_cast<uint64_t>(amount), bits);
  const uint64_t raw = LowBits(static_cast<uint64_t>(value), bits);
  const auto width = static_cast<uint64_t>(bits);
  if (kShift == Shift::kLeft) return by >= width ? C{0} : static_cast<C>(raw << by);
  if (kShift == Shift::kRightLogical) return by >= width ? C{0} : static_cast<C>(raw >> by);
  const auto signed_value = static_cast<int64_t>(raw << (64 - bits)) >> (64 - bits);
  return static_cast<C>(signed_value >> (by >= width ? bits - 1 : static_cast<int>(by)));
}

template <typename C>
KernelFunction IntegerBinary(Opcode opcode) {
  const auto make = [](auto f) { return MakeBinary<C, C>(f); };
  switch (opcode) {
    case kSubtract:
      return make(
          [](C a, C b) { return static_cast<C>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); });
    case kDivide: return make([](C a, C b) { return Quotient(a, b); });
    case kRemainder: return make([](C a, C b) { return Remainder(a, b); });
    case kPower: return make([](C a, C b) { return Power(a, b); });
    case kMulhi:
      return make([](C a, C b, const KernelContext& context) { return HighProduct(a, b, context.bits); });
    case kShiftLeft:
      return make([](C a, C b, const KernelContext& context) {
        return Shifted<C, Shift::kLeft>(a, b, context.bits);
      });
    case kShiftRightLogical:
      return make([](C a, C b, const KernelContext& context) {
        return Shifted<C, Shift::kRightLogical>(a, b, context.bits);
      });
    case kShiftRightArithmetic:
      return make([](C a, C b, const KernelContext& context) {
        return Shifted<C, Shift::kRightArithmetic>(a, b, context.bits);
      });
    default: return nullptr;
  }
}

KernelFunction FloatBinary(Opcode opcode) {
  const auto make = [](auto f) { return MakeBinary<double, double>(f); };
  switch (opcode) {
    case kSubtract: return make([](double a, double b) { return a - b; });
    case kDivide: return make([](double a, double b) { return a / b; });
    case kRemainder: return make([](double a, double b) { return std::fmod(a, b); });
    case kPower: return make([](double a, double b) { return hlo::RealPower(a, b); });
    case kAtan2: return make([](double a, double b) { return std::atan2(a, b); });
    case kComplex: return MakeBinary<double, Complex>([](double a, double b) { return Complex(a, b); });
    default: return nullptr;
  }
}

// Computes atan2(y, x) = -i log((x + iy) / sqrt(x^2 + y^2)).
Complex ComplexAtan2(Complex y, Complex x) {
  const Complex i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

KernelFunction ComplexBinary(Opcode opcode) {
  const auto make = [](auto f) { return MakeBinary<Complex, Complex>(f); };
  switch (opcode) {
    case kSubtract: return make([](Complex a, Complex b) { return a - b; });
    case kDivide: return make([](Complex a, Complex b) { return a / b; });
    case kPower: return make([](Complex a, Complex b) { return hlo::ComplexPower(a, b); });
    case kAtan2: return make([](Complex a, Complex b) { return ComplexAtan2(a, b); });
    default: return nullptr;
  }
}

template <typename T>
void Select(const void* const* in, void* out, int64_t n, const KernelContext&) {
  const auto* choose = static_cast<const uint64_t*>(in[0]);
  const T *a = static_cast<const T*>(in[1]), *b = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = choose[i] != 0 ? a[i] : b[i];
}

template <typename C>
void Clamp(const void* const* in, void* out, int64_t n, const KernelContext&) {
  const C *low = static_cast<const C*>(in[0]), *x = static_cast<const C*>(in[1]),
          *high = static_cast<const C*>(in[2]);
  C* y = static_cast<C*>(out);
  for (int64_t i = 0; i < n; ++i) y[i] = hlo::Minimum(hlo::Maximum(low[i], x[i]), high[i]);
}

}  // namespace

KernelFunction FindBinaryKernel(Opcode opcode, PrimitiveType type) {
  return VisitCarrier(CarrierOf(type), [&]<typename C>() {
    KernelFunction kernel = nullptr;
    VisitCombiner<C>(opcode, type == hlo::kPred, [&](auto combine) { kernel = MakeBinary<C, C>(combine); });
    if (kernel != nullptr) return kernel;
    if constexpr (std::is_integral_v<C>) return IntegerBinary<C>(opcode);
    if constexpr (std::is_same_v<C, double>) return FloatBinary(opcode);
    return ComplexBinary(opcode);
  });
}

KernelFunction FindTernaryKernel(Opcode opcode, PrimitiveType data_type) {
  return VisitCarrier(CarrierOf(data_type), [&]<typename C>() -> KernelFunction {
    if (opcode == kSelect) return &Select<C>;
    if (opcode == kClamp) return &Clamp<C>;
    return nullptr;
  });
}

}  // namespace hlod::evaluator
