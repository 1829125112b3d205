// Mathematical functions of one operand.
#include "hlod/ops/math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/ops/special/special_series.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::AngleOps;
using lazy::InDouble;
using lazy::InWide;
using lazy::MulOps;
using lazy::N;
using lazy::Refuse;
using lazy::TruncOps;
using lazy::Unary;

Op OnFloats(Lowering& l, Op x, hlo::Opcode opcode) {
  if (l.type(x) == hlo::kPred || hlo::IsComplex(l.type(x)))
    Refuse("%s is not a real number", hlo::Name(l.type(x)));
  return hlo::IsFloat(l.type(x)) ? l.b.Unary(opcode, x) : x;
}
Op AbsOps(Lowering& l, Op x) {
  if (l.type(x) == hlo::kPred) Refuse("a bool has no absolute value");
  return hlo::IsInteger(l.type(x)) && !hlo::IsSigned(l.type(x)) ? x : l.b.Unary(hlo::kAbs, x);
}
Op SignOps(Lowering& l, Op x) {
  if (l.type(x) == hlo::kPred) return x;
  const Op sign = l.b.Unary(hlo::kSign, x);
  // The sign of NaN is 0, as in PyTorch.
  return hlo::IsFloat(l.type(x)) ? lazy::SelectOps(l, lazy::NanOps(l, x), N(l, x, 0), sign) : sign;
}
Op ImagOps(Lowering& l, Op x) {
  if (!hlo::IsComplex(l.type(x))) Refuse("%s has no imaginary part", hlo::Name(l.type(x)));
  return l.b.Unary(hlo::kImag, x);
}
Op ConjOps(Lowering& l, Op x) {
  if (!hlo::IsComplex(l.type(x))) return x;
  return l.b.Binary(hlo::kComplex, l.b.Unary(hlo::kReal, x),
                    l.b.Unary(hlo::kNegate, l.b.Unary(hlo::kImag, x)));
}

}  // namespace

Tensor Abs(const Operand& x) {
  return Unary(lazy::ops::Abs, x, [](Lowering& l, Op x) { return AbsOps(l, x); });
}
Tensor Sign(const Operand& x) {
  return Unary(lazy::ops::Sign, x, [](Lowering& l, Op x) { return SignOps(l, x); });
}
Tensor Ceil(const Operand& x) {
  return Unary(lazy::ops::Ceil, x, [](Lowering& l, Op x) { return OnFloats(l, x, hlo::kCeil); });
}
Tensor Floor(const Operand& x) {
  return Unary(lazy::ops::Floor, x, [](Lowering& l, Op x) { return OnFloats(l, x, hlo::kFloor); });
}
Tensor Trunc(const Operand& x) {
  return Unary(lazy::ops::Trunc, x, [](Lowering& l, Op x) { return TruncOps(l, x); });
}
Tensor Frac(const Operand& x) {
  return Unary(lazy::ops::Frac, x,
               [](Lowering& l, Op x) { return l.b.Binary(hlo::kSubtract, x, TruncOps(l, x)); });
}
Tensor Sqrt(const Operand& x) {
  return Unary(lazy::ops::Sqrt, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kSqrt, x); });
}
Tensor Rsqrt(const Operand& x) {
  return Unary(lazy::ops::Rsqrt, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kRsqrt, x); });
}
Tensor Exp2(const Operand& x) {
  return Unary(lazy::ops::Exp2, x, [](Lowering& l, Op x) { return l.b.Binary(hlo::kPower, N(l, x, 2), x); });
}
Tensor Expm1(const Operand& x) {
  return Unary(lazy::ops::Expm1, x,
               [](Lowering& l, Op x) { return l.b.Unary(hlo::kExponentialMinusOne, x); });
}
Tensor Log(const Operand& x) {
  return Unary(lazy::ops::Log, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x); });
}
Tensor Log2(const Operand& x) {
  return Unary(lazy::ops::Log2, x, [](Lowering& l, Op x) {
    return InWide(l, x,
                  [](Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x) * N(l, x, std::numbers::log2e); });
  });
}
Tensor Log10(const Operand& x) {
  return Unary(lazy::ops::Log10, x, [](Lowering& l, Op x) {
    return InWide(l, x,
                  [](Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x) * N(l, x, std::numbers::log10e); });
  });
}
Tensor Log1p(const Operand& x) {
  return Unary(lazy::ops::Log1p, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kLogPlusOne, x); });
}
Tensor Cos(const Operand& x) {
  return Unary(lazy::ops::Cos, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kCosine, x); });
}
Tensor Tan(const Operand& x) {
  return Unary(lazy::ops::Tan, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kTan, x); });
}
Tensor Asin(const Operand& x) {
  return Unary(lazy::ops::Asin, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAsin, x); });
}
Tensor Acos(const Operand& x) {
  return Unary(lazy::ops::Acos, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAcos, x); });
}
Tensor Atan(const Operand& x) {
  return Unary(lazy::ops::Atan, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAtan, x); });
}
Tensor Sinh(const Operand& x) {
  return Unary(lazy::ops::Sinh, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kSinh, x); });
}
Tensor Cosh(const Operand& x) {
  return Unary(lazy::ops::Cosh, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kCosh, x); });
}
Tensor Asinh(const Operand& x) {
  return Unary(lazy::ops::Asinh, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAsinh, x); });
}
Tensor Acosh(const Operand& x) {
  return Unary(lazy::ops::Acosh, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAcosh, x); });
}
Tensor Atanh(const Operand& x) {
  return Unary(lazy::ops::Atanh, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kAtanh, x); });
}
Tensor Sigmoid(const Operand& x) {
  return Unary(lazy::ops::Sigmoid, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kLogistic, x); });
}
Tensor Erf(const Operand& x) {
  return Unary(lazy::ops::Erf, x, [](Lowering& l, Op x) { return l.b.Unary(hlo::kErf, x); });
}
Tensor Erfc(const Operand& x) {
  return Unary(lazy::ops::Erfc, x, [](Lowering& l, Op x) { return InDouble(l, x, lazy::ErfcOps); });
}
Tensor Erfinv(const Operand& x) {
  return Unary(lazy::ops::Erfinv, x, [](Lowering& l, Op x) { return InDouble(l, x, lazy::ErfinvOps); });
}
Tensor Lgamma(const Operand& x) {
  return Unary(lazy::ops::Lgamma, x, [](Lowering& l, Op x) { return InDouble(l, x, lazy::LgammaOps); });
}
Tensor Digamma(const Operand& x) {
  return Unary(lazy::ops::Digamma, x, [](Lowering& l, Op x) { return InDouble(l, x, lazy::DigammaOps); });
}
Tensor Reciprocal(const Operand& x) {
  return Unary(lazy::ops::Reciprocal, x, [](Lowering& l, Op x) { return N(l, x, 1) / x; });
}
Tensor Square(const Operand& x) {
  return Unary(lazy::ops::Square, x, [](Lowering& l, Op x) {
    const Op number = l.type(x) == hlo::kPred ? l.Convert(x, hlo::kS64) : x;
    return MulOps(l, number, number);
  });
}
Tensor Sinc(const Operand& x) {
  return Unary(lazy::ops::Sinc, x, [](Lowering& l, Op x) { return InWide(l, x, lazy::SincOps); });
}
Tensor Deg2rad(const Operand& x) {
  return Unary(lazy::ops::Deg2rad, x, [](Lowering& l, Op x) { return x * N(l, x, std::numbers::pi / 180); });
}
Tensor Rad2deg(const Operand& x) {
  return Unary(lazy::ops::Rad2deg, x, [](Lowering& l, Op x) { return x * N(l, x, 180 / std::numbers::pi); });
}
Tensor Sgn(const Operand& x) {
  return Unary(lazy::ops::Sgn, x, [](Lowering& l, Op x) { return SignOps(l, x); });
}
Tensor Real(const Operand& x) {
  return Unary(lazy::ops::Real, x,
               [](Lowering& l, Op x) { return hlo::IsComplex(l.type(x)) ? l.b.Unary(hlo::kReal, x) : x; });
}
Tensor Imag(const Operand& x) {
  return Unary(lazy::ops::Imag, x, [](Lowering& l, Op x) { return ImagOps(l, x); });
}
Tensor Conj(const Operand& x) {
  return Unary(lazy::ops::Conj, x, [](Lowering& l, Op x) { return ConjOps(l, x); });
}
Tensor ConjPhysical(const Operand& x) { return Conj(x); }
Tensor ResolveConj(const Operand& x) { return lazy::TensorOf(lazy::ops::Conj, x); }
Tensor ResolveNeg(const Operand& x) { return lazy::TensorOf(lazy::ops::Neg, x); }
Tensor Positive(const Operand& x) {
  const Tensor& tensor = lazy::TensorOf(lazy::ops::Positive, x);
  lazy::Explain(lazy::ops::Positive, {&x, 1}, x.caller(), [&] {
    if (tensor.dtype() == kPred) Refuse("a bool has no sign");
  });
  return tensor;
}
Tensor Angle(const Operand& x) {
  return Unary(lazy::ops::Angle, x, [](Lowering& l, Op x) { return AngleOps(l, x); });
}

// Rounds half to even.
Tensor Round(const Operand& x, int64_t decimals) {
  return lazy::Unary(lazy::ops::Round, x, [&](Lowering& l, Op x) {
    if (decimals == 0) return OnFloats(l, x, hlo::kRoundNearestEven);
    if (!hlo::IsFloat(l.type(x)))
      Refuse("decimals (%d) need a floating type, not %s", decimals, hlo::Name(l.type(x)));
    const Op scale =
        l.Setting(l.type(x), std::pow(10.0, std::abs(static_cast<double>(decimals))), "decimals");
    const Op scaled = decimals > 0 ? x * scale : x / scale;
    const Op rounded = l.b.Unary(hlo::kRoundNearestEven, scaled);
    return decimals > 0 ? rounded / scale : rounded * scale;
  });
}

Tensor Logit(const Operand& x, std::optional<double> eps) {
  return lazy::Unary(lazy::ops::Logit, x, [&](Lowering& l, Op x) {
    if (eps.has_value())
      x = ClampedOps(l, x, l.Setting(l.type(x), *eps, "eps"), l.Setting(l.type(x), 1 - *eps, "1 - eps"));
    return InWide(l, x, [](Lowering& l, Op x) {
      return lazy::OwnDerivative(l, "logit", {x}, [&](lazy::Operands o) {
        return l.b.Unary(hlo::kLog, o[0] / (N(l, x, 1) - o[0]));
      });
    });
  });
}

Tensor NanToNum(const Operand& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  return lazy::Unary(lazy::ops::NanToNum, x, [&](Lowering& l, Op x) {
    const PrimitiveType type = l.type(x);
    if (!hlo::IsFloat(type)) return x;
    const double infinity = std::numeric_limits<double>::infinity();
    // The greatest finite number: the one before infinity.
    const Op limit = l.b.Constant(lazy::LargestLiteral(type));
    const auto is = [&](double value) { return lazy::CompareOps(l, x, value, lazy::Order::kEq); };
    Op result = lazy::SelectOps(l, lazy::NanOps(l, x), l.Setting(type, nan, "nan"), x);
    result = lazy::SelectOps(l, is(infinity), posinf ? l.Setting(type, *posinf, "posinf") : limit, result);
    return lazy::SelectOps(l, is(-infinity),
                           neginf ? l.Setting(type, *neginf, "neginf") : l.b.Unary(hlo::kNegate, limit),
                           result);
  });
}

}  // namespace hlod
