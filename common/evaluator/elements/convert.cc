// convert, bitcast-convert between equal widths, reduce-precision and stochastic-convert, on blocks.
#include <bit>
#include <cmath>
#include <limits>

#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/kernel.h"

namespace hlod::evaluator {
namespace {

using hlo::PrimitiveType;

// Return the range of an integer type's values.
double Lowest(PrimitiveType type) {
  return hlo::IsSigned(type) ? -std::ldexp(1.0, hlo::Info(type).bits - 1) : 0.0;
}
int ValueBits(PrimitiveType type) { return hlo::Info(type).bits - (hlo::IsSigned(type) ? 1 : 0); }
uint64_t Largest(PrimitiveType type) {
  return ValueBits(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << ValueBits(type)) - 1;
}

// Truncates towards zero and saturates; NaN becomes 0.
template <typename C>
C Truncate(double value, PrimitiveType to) {
  if (std::isnan(value)) return 0;
  if (value >= std::ldexp(1.0, ValueBits(to))) return static_cast<C>(Largest(to));
  if (value <= Lowest(to)) return static_cast<C>(static_cast<int64_t>(Lowest(to)));
  return static_cast<C>(value);
}

// Returns an integer as a double rounded to odd, so that a following rounding to fewer bits has the correct
// result.
template <typename C>
double ToOdd(C value) {
  const bool negative = Less(value, C{0});
  uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int excess = 64 - std::countl_zero(magnitude) - 53;
  if (excess > 0) {
    const uint64_t dropped = magnitude & ((uint64_t{1} << excess) - 1);
    magnitude = ((magnitude >> excess) | (dropped != 0 ? 1 : 0)) << excess;
  }
  const auto wide = static_cast<double>(magnitude);
  return negative ? -wide : wide;
}

template <typename From, typename To>
To ConvertElement(From value, PrimitiveType to) {
  if constexpr (std::is_same_v<From, To>) {
    if constexpr (std::is_integral_v<To>) return to == hlo::kPred ? static_cast<To>(value != 0) : value;
    return value;
  } else if constexpr (std::is_same_v<From, Complex>) {
    if (to == hlo::kPred) return static_cast<To>(value != 0.0);
    return ConvertElement<double, To>(value.real(), to);
  } else if constexpr (std::is_same_v<To, Complex>) {
    return Complex(ConvertElement<From, double>(value, hlo::RealType(to)), 0.0);
  } else if constexpr (std::is_same_v<To, double>) {
    return to == hlo::kF64 ? static_cast<double>(value) : ToOdd(value);
  } else {
    if (to == hlo::kPred) return static_cast<To>(value != 0);
    if constexpr (std::is_same_v<From, double>) return Truncate<To>(value, to);
    return static_cast<To>(value);
  }
}

void Bitcast(const void* const* in, void* out, int64_t n, const KernelContext& context) {
  const int64_t in_step = CarrierBytes(CarrierOf(context.operand)),
                out_step = CarrierBytes(CarrierOf(context.result));
  const std::byte* from = static_cast<const std::byte*>(in[0]);
  std::byte* to = static_cast<std::byte*>(out);
  for (int64_t i = 0; i < n; ++i) {
    alignas(16) std::byte element[16];
    Store(context.operand, from + i * in_step, 1, element);
    Load(context.result, element, 1, to + i * out_step);
  }
}

// Returns the exponent of the finest spacing of `format` around a value that is not 0, NaN or infinite. Below
// the smallest normal number of `source` the spacing is constant.
int StepExponent(double value, FloatFormat source, int mantissa_bits) {
  int exponent;
  std::frexp(value, &exponent);
  const int smallest = 2 - (1 << (source.exponent_bits - 1));
  return (exponent - 1 < smallest ? smallest : exponent - 1) - mantissa_bits;
}

// Rounds the mantissa to nearest even, then replaces values outside the exponent's range by infinity or zero.
// f8 is computed in f16, as in XLA.
double ReducePrecision(double value, const KernelContext& context) {
  if (!std::isfinite(value) || value == 0) return value;
  const FloatFormat source =
      hlo::Info(context.operand).bits <= 8 ? FormatOf(hlo::kF16) : FormatOf(context.operand);
  double rounded = value;
  if (context.format.mantissa_bits < source.mantissa_bits) {
    const int step = StepExponent(value, source, context.format.mantissa_bits);
    const double steps = std::ldexp(value, -step);
    rounded = std::ldexp(std::nearbyint(steps), step);
    // Without a mantissa, "even" refers to the stored exponent, whose bias is odd.
    if (context.format.mantissa_bits == 0 && std::fabs(steps) == 1.5 && step % 2 != 0)
      rounded = std::copysign(std::ldexp(1.0, step), value);
  }
  if (context.format.exponent_bits < source.exponent_bits) {
    const int bias = (1 << (context.format.exponent_bits - 1)) - 1;
    int exponent;
    std::frexp(rounded, &exponent);
    if (exponent - 1 > bias) return std::copysign(std::numeric_limits<double>::infinity(), value);
    if (rounded != 0 && exponent - 1 < 1 - bias) return std::copysign(0.0, value);
  }
  return rounded;
}

// Rounds away from zero if the random number, as a fraction of its range, is less than the part that
// truncation removes.
template <typename C>
void StochasticConvert(const void* const* in, void* out, int64_t n, const KernelContext& context) {
  const auto* x = static_cast<const double*>(in[0]);
  const auto* random = static_cast<const uint64_t*>(in[1]);
  C* y = static_cast<C*>(out);
  const double range = std::ldexp(1.0, context.bits);  // The random numbers are as wide as the operand.
  for (int64_t i = 0; i < n; ++i) {
    const bool to_float = std::is_same_v<C, double>;
    if (to_float && (!std::isfinite(x[i]) || x[i] == 0)) {
      y[i] = static_cast<C>(x[i]);
      continue;
    }
    const FloatFormat format = FormatOf(context.result);
    const int step = to_float ? StepExponent(x[i], format, format.mantissa_bits) : 0;
    const double magnitude = std::ldexp(std::fabs(x[i]), -step), whole = std::trunc(magnitude);
    const bool up = static_cast<double>(random[i]) < std::trunc((magnitude - whole) * range);
    const double rounded = std::copysign(std::ldexp(whole + (up ? 1 : 0), step), x[i]);
    if constexpr (std::is_same_v<C, double>) {
      y[i] = rounded;
    } else {
      y[i] = Truncate<C>(std::isfinite(x[i]) ? rounded : x[i], context.result);
    }
  }
}

}  // namespace

FloatFormat FormatOf(PrimitiveType type) {
  FloatFormat format;
  if (type == hlo::kF32) return {8, 23};
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (hlo::kIsSmallFloat<T>) format = {T::kExponentBits, T::kMantissaBits};
  });
  return format;
}

KernelFunction FindConvertKernel(PrimitiveType from, PrimitiveType to) {
  return VisitCarrier(CarrierOf(from), [&]<typename From>() {
    return VisitCarrier(CarrierOf(to), []<typename To>() {
      return MakeUnary<From, To>(
          [](From x, const KernelContext& context) { return ConvertElement<From, To>(x, context.result); });
    });
  });
}

KernelFunction BitcastKernel() { return &Bitcast; }

KernelFunction ReducePrecisionKernel() {
  return MakeUnary<double, double>(
      [](double x, const KernelContext& context) { return ReducePrecision(x, context); });
}

KernelFunction FindStochasticConvertKernel(PrimitiveType to) {
  switch (CarrierOf(to)) {
    case Carrier::kUnsigned: return &StochasticConvert<uint64_t>;
    case Carrier::kSigned: return &StochasticConvert<int64_t>;
    case Carrier::kFloat: return &StochasticConvert<double>;
    default: return nullptr;
  }
}

}  // namespace hlod::evaluator
