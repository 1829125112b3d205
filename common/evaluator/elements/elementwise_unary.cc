// Elementwise opcodes of one operand, on each carrier.
#include <bit>
#include <cmath>
#include <limits>

#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/kernel.h"

namespace hlod::evaluator {
namespace {

using hlo::Opcode;
using hlo::PrimitiveType;
using enum hlo::Opcode;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename F>
KernelFunction Float(F f) {
  return MakeUnary<double, double>(f);
}

// Handles signed and unsigned integers. The result of negation and complement wraps when it is stored.
template <typename C>
KernelFunction IntegerUnary(Opcode opcode) {
  switch (opcode) {
    case kAbs:
      return MakeUnary<C, C>(
          [](C x) { return Less(x, C{0}) ? static_cast<C>(-static_cast<uint64_t>(x)) : x; });
    case kNegate: return MakeUnary<C, C>([](C x) { return static_cast<C>(-static_cast<uint64_t>(x)); });
    case kNot: return MakeUnary<C, C>([](C x) { return static_cast<C>(~x); });
    case kSign: return MakeUnary<C, C>([](C x) { return static_cast<C>((C{0} < x) - (x < C{0})); });
    case kPopcnt:
      return MakeUnary<C, C>([](C x, const KernelContext& context) {
        return static_cast<C>(std::popcount(LowBits(static_cast<uint64_t>(x), context.bits)));
      });
    case kClz:
      return MakeUnary<C, C>([](C x, const KernelContext& context) {
        return static_cast<C>(std::countl_zero(LowBits(static_cast<uint64_t>(x), context.bits)) -
                              (64 - context.bits));
      });
    default: return nullptr;
  }
}

KernelFunction FloatUnary(Opcode opcode) {
  switch (opcode) {
    case kAbs: return Float([](double x) { return std::fabs(x); });
    case kAcos: return Float([](double x) { return std::acos(x); });
    case kAcosh: return Float([](double x) { return std::acosh(x); });
    case kAsin: return Float([](double x) { return std::asin(x); });
    case kAsinh: return Float([](double x) { return std::asinh(x); });
    case kAtan: return Float([](double x) { return std::atan(x); });
    case kAtanh: return Float([](double x) { return std::atanh(x); });
    case kCosh: return Float([](double x) { return std::cosh(x); });
    case kSinh: return Float([](double x) { return std::sinh(x); });
    case kCbrt: return Float([](double x) { return std::cbrt(x); });
    case kCeil: return Float([](double x) { return std::ceil(x); });
    case kFloor: return Float([](double x) { return std::floor(x); });
    case kRoundNearestAfz: return Float([](double x) { return std::round(x); });
    case kRoundNearestEven:
      return Float([](double x) { return std::nearbyint(x); });  // Rounds in the default mode: ties to even.
    case kCosine: return Float([](double x) { return std::cos(x); });
    case kSine: return Float([](double x) { return std::sin(x); });
    case kTan: return Float([](double x) { return std::tan(x); });
    case kTanh: return Float([](double x) { return std::tanh(x); });
    case kErf: return Float([](double x) { return std::erf(x); });
    case kExponential: return Float([](double x) { return std::exp(x); });
    case kExponentialMinusOne: return Float([](double x) { return std::expm1(x); });
    case kLog: return Float([](double x) { return std::log(x); });
    case kLogPlusOne: return Float([](double x) { return std::log1p(x); });
    case kLogistic: return Float([](double x) { return 1 / (1 + std::exp(-x)); });
    case kSqrt: return Float([](double x) { return std::sqrt(x); });
    case kRsqrt: return Float([](double x) { return 1 / std::sqrt(x); });
    case kNegate: return Float([](double x) { return -x; });
    case kSign:
      return Float([](double x) {
        return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
      });  // Zeros and NaN are their own sign.
    case kReal: return Float([](double x) { return x; });
    case kImag: return Float([](double) { return 0.0; });
    case kIsFinite: return MakeUnary<double, uint64_t>([](double x) { return uint64_t{std::isfinite(x)}; });
    default: return nullptr;
  }
}

// Computes exp(z) - 1 without cancellation near 0: cos y = 1 - 2 sin^2(y/2).
Complex ExpMinusOne(Complex z) {
  const double half_sine = std::sin(z.imag() / 2);
  const double real = std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine;
  return {real, z.imag() == 0 ? z.imag() : std::exp(z.real()) * std::sin(z.imag())};  // Avoids inf * 0.
}

// Computes log(1 + z) without cancellation near 0: |1+z|^2 = 1 + x(2+x) + y^2.
Complex LogPlusOne(Complex z) {
  const double x = z.real(), y = z.imag();
  const double real =
      std::hypot(x, y) < 0.5 ? 0.5 * std::log1p(x * (2 + x) + y * y) : std::log(std::hypot(1 + x, y));
  return {real, std::atan2(y, 1 + x)};
}

Complex Sign(Complex z) {
  if (HasNan(z)) return {kNan, kNan};
  const double magnitude = std::abs(z);
  return magnitude == 0 ? z : z / magnitude;
}

template <typename F>
KernelFunction OfComplex(F f) {
  return MakeUnary<Complex, Complex>(f);
}

KernelFunction ComplexUnary(Opcode opcode) {
  switch (opcode) {
    case kAbs: return MakeUnary<Complex, double>([](Complex z) { return std::abs(z); });
    case kReal: return MakeUnary<Complex, double>([](Complex z) { return z.real(); });
    case kImag: return MakeUnary<Complex, double>([](Complex z) { return z.imag(); });
    case kAcos: return OfComplex([](Complex z) { return std::acos(z); });
    case kAcosh: return OfComplex([](Complex z) { return std::acosh(z); });
    case kAsin: return OfComplex([](Complex z) { return std::asin(z); });
    case kAsinh: return OfComplex([](Complex z) { return std::asinh(z); });
    case kAtan: return OfComplex([](Complex z) { return std::atan(z); });
    case kAtanh: return OfComplex([](Complex z) { return std::atanh(z); });
    case kCosh: return OfComplex([](Complex z) { return std::cosh(z); });
    case kSinh: return OfComplex([](Complex z) { return std::sinh(z); });
    case kCosine: return OfComplex([](Complex z) { return std::cos(z); });
    case kSine: return OfComplex([](Complex z) { return std::sin(z); });
    case kTan: return OfComplex([](Complex z) { return std::tan(z); });
    case kTanh: return OfComplex([](Complex z) { return std::tanh(z); });
    case kExponential: return OfComplex([](Complex z) { return std::exp(z); });
    case kExponentialMinusOne: return OfComplex([](Complex z) { return ExpMinusOne(z); });
    case kLog: return OfComplex([](Complex z) { return std::log(z); });
    case kLogPlusOne: return OfComplex([](Complex z) { return LogPlusOne(z); });
    case kLogistic: return OfComplex([](Complex z) { return 1.0 / (1.0 + std::exp(-z)); });
    case kSqrt: return OfComplex([](Complex z) { return std::sqrt(z); });
    case kRsqrt: return OfComplex([](Complex z) { return 1.0 / std::sqrt(z); });
    case kNegate: return OfComplex([](Complex z) { return -z; });
    case kSign: return OfComplex([](Complex z) { return Sign(z); });
    default: return nullptr;
  }
}

}  // namespace

KernelFunction FindUnaryKernel(Opcode opcode, PrimitiveType type) {
  if (type == hlo::kPred) {
    if (opcode != kNot) return nullptr;
    return MakeUnary<uint64_t, uint64_t>([](uint64_t x) { return uint64_t{x == 0}; });
  }
  switch (CarrierOf(type)) {
    case Carrier::kUnsigned: return IntegerUnary<uint64_t>(opcode);
    case Carrier::kSigned: return IntegerUnary<int64_t>(opcode);
    case Carrier::kFloat: return FloatUnary(opcode);
    default: return ComplexUnary(opcode);
  }
}

}  // namespace hlod::evaluator
