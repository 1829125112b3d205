// Special functions.
#include "hlod/ops/special.h"

#include <cmath>
#include <numbers>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/elementwise/slopes.h"
#include "client/tensor/ops/special/gamma_functions.h"
#include "client/tensor/ops/special/special_functions.h"
#include "client/tensor/ops/special/special_series.h"
#include "client/tensor/value/numbers.h"

namespace hlod {

using lazy::Lowering;
using lazy::Op;

namespace {

using lazy::CompareOps;
using lazy::InDouble;
using lazy::N;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;

using lazy::kInfinity;

void RequireReal(Lowering& l, Op x) {
  if (hlo::IsComplex(l.type(x))) Refuse("%s is not a real number", hlo::Name(l.type(x)));
}

template <typename F>
Tensor Special(const lazy::Operation& operation, const Operand& x, F lower) {
  return lazy::Unary(operation, x, [&](Lowering& l, Op x) {
    RequireReal(l, x);
    return InDouble(l, x, lower);
  });
}
template <typename F>
Tensor Special(const lazy::Operation& operation, const Operand& x, const Operand& y, F lower) {
  return lazy::Binary(operation, x, y, [&](Lowering& l, Op x, Op y) {
    RequireReal(l, x);
    return l.Convert(lower(l, l.Convert(x, hlo::kF64), l.Convert(y, hlo::kF64)), l.type(x));
  });
}

Op Exp(Lowering& l, Op x) { return l.b.Unary(hlo::kExponential, x); }
Op Log(Lowering& l, Op x) { return l.b.Unary(hlo::kLog, x); }
Op Negative(Lowering& l, Op x) { return l.b.Unary(hlo::kNegate, x); }
Op IsEqual(Lowering& l, Op x, double y) { return CompareOps(l, x, y, Order::kEq); }

template <int kOrder>
Op UnscaledI(Lowering& l, Op x) {
  return lazy::UnscaledI(l, x, kOrder);
}
// A special function with a built-in derivative, named `rule`.
template <typename F>
Tensor SpecialWith(const char* rule, const lazy::Operation& operation, const Operand& x, F lower) {
  return Special(operation, x, [&](Lowering& l, Op x) {
    return lazy::OwnDerivative(l, rule, {x}, [&](absl::Span<const Op> o) { return lower(l, o[0]); });
  });
}

template <int kOrder>
Op UnscaledK(Lowering& l, Op x) {
  const Op result = lazy::ScaledK(l, x, kOrder) * Exp(l, Negative(l, x));
  return SelectOps(l, IsEqual(l, x, kInfinity), N(l, x, 0), result);
}

}  // namespace

Tensor Entr(const Operand& x) {
  return SpecialWith("entr", lazy::ops::Entr, x, [](Lowering& l, Op x) {
    const Op result = SelectOps(l, IsEqual(l, x, 0), N(l, x, 0), Negative(l, x * Log(l, x)));
    return SelectOps(l, CompareOps(l, x, 0, Order::kLt), N(l, x, -kInfinity), result);
  });
}
Tensor Ndtr(const Operand& x) {
  return SpecialWith("ndtr", lazy::ops::Ndtr, x, [](Lowering& l, Op x) {
    return lazy::ErfcOps(l, x * N(l, x, -std::numbers::sqrt2 / 2)) * N(l, x, 0.5);
  });
}
Tensor LogNdtr(const Operand& x) {
  return SpecialWith("log_ndtr", lazy::ops::LogNdtr, x, [](Lowering& l, Op x) {
    const Op t = x * N(l, x, -std::numbers::sqrt2 / 2), half = N(l, x, 0.5);
    const Op tail = Log(l, lazy::ErfcxOps(l, t) * half) - t * t;
    const Op low = SelectOps(l, IsEqual(l, x, -kInfinity), x, tail);
    const Op high = l.b.Unary(hlo::kLogPlusOne, lazy::ErfcOps(l, Negative(l, t)) * N(l, x, -0.5));
    return SelectOps(l, CompareOps(l, x, -1, Order::kLt), low, high);
  });
}
Tensor Ndtri(const Operand& x) { return Special(lazy::ops::Ndtri, x, lazy::NormalQuantileOps); }
Tensor Erfcx(const Operand& x) {
  return SpecialWith("erfcx", lazy::ops::Erfcx, x, [](Lowering& l, Op x) {
    return SelectOps(l, IsEqual(l, x, kInfinity), N(l, x, 0), lazy::ErfcxOps(l, x));
  });
}
Tensor Xlog1py(const Operand& x, const Operand& y) {
  return Special(lazy::ops::Xlog1py, x, y,
                 [](Lowering& l, Op x, Op y) { return lazy::XLogOps(l, x, y, hlo::kLogPlusOne); });
}

Tensor Igamma(const Operand& a, const Operand& x) {
  return Special(lazy::ops::Igamma, a, x,
                 [](Lowering& l, Op a, Op x) { return lazy::IgammaOps(l, a, x, false); });
}
Tensor Igammac(const Operand& a, const Operand& x) {
  return Special(lazy::ops::Igammac, a, x,
                 [](Lowering& l, Op a, Op x) { return lazy::IgammaOps(l, a, x, true); });
}
Tensor Zeta(const Operand& x, const Operand& q) { return Special(lazy::ops::Zeta, x, q, lazy::ZetaOps); }

Tensor Polygamma(int64_t n, const Operand& x) {
  return lazy::Unary(lazy::ops::Polygamma, x, [&](Lowering& l, Op x) {
    RequireReal(l, x);
    if (n < 0) Refuse("the order (%d) is negative", n);
    const PrimitiveType type = l.type(x);
    const Op wide = l.Convert(x, hlo::kF64);
    if (n == 0) return l.Convert(lazy::DigammaOps(l, wide), type);
    if (n == 1) {
      // The angle is rounded in x's type, as in PyTorch, so that values near poles agree.
      const PrimitiveType compute = lazy::WideType(type);
      const Op angle = l.Convert(x, compute) * l.Number(compute, std::numbers::pi);
      return l.Convert(lazy::TrigammaOps(l, wide, l.Convert(angle, hlo::kF64)), type);
    }
    const double factor = (n % 2 != 0 ? 1 : -1) * std::tgamma(static_cast<double>(n) + 1);
    const Op order = l.Full(hlo::kF64, l.dims(x), static_cast<double>(n) + 1);
    return l.Convert(lazy::ZetaOps(l, order, wide) * N(l, wide, factor), type);
  });
}

Tensor Mvlgamma(const Operand& x, int64_t p) {
  return Special(lazy::ops::Mvlgamma, x, [&](Lowering& l, Op x) {
    constexpr int64_t kMost = 1000;  // Each adds instructions to the program.
    if (p < 1 || p > kMost) Refuse("p (%d) must be between 1 and %d", p, kMost);
    const auto n = static_cast<double>(p);
    Op sum = l.Full(hlo::kF64, l.dims(x), n * (n - 1) / 4 * std::log(std::numbers::pi));
    for (int64_t i = 0; i < p; ++i) {
      sum = sum + lazy::LgammaOps(l, x + N(l, x, 0.0 - static_cast<double>(i) / 2));
    }
    return sum;
  });
}

Tensor I0(const Operand& x) { return Special(lazy::ops::I0, x, UnscaledI<0>); }
Tensor I1(const Operand& x) { return Special(lazy::ops::I1, x, UnscaledI<1>); }
Tensor I0e(const Operand& x) {
  return Special(lazy::ops::I0e, x, [](Lowering& l, Op x) { return lazy::ScaledI(l, x, 0); });
}
Tensor I1e(const Operand& x) {
  return Special(lazy::ops::I1e, x, [](Lowering& l, Op x) { return lazy::ScaledI(l, x, 1); });
}
Tensor ModifiedBesselI0(const Operand& x) { return Special(lazy::ops::ModifiedBesselI0, x, UnscaledI<0>); }
Tensor ModifiedBesselI1(const Operand& x) { return Special(lazy::ops::ModifiedBesselI1, x, UnscaledI<1>); }
Tensor ModifiedBesselK0(const Operand& x) { return Special(lazy::ops::ModifiedBesselK0, x, UnscaledK<0>); }
Tensor ModifiedBesselK1(const Operand& x) { return Special(lazy::ops::ModifiedBesselK1, x, UnscaledK<1>); }
Tensor ScaledModifiedBesselK0(const Operand& x) {
  return Special(lazy::ops::ScaledModifiedBesselK0, x,
                 [](Lowering& l, Op x) { return lazy::ScaledK(l, x, 0); });
}
Tensor ScaledModifiedBesselK1(const Operand& x) {
  return Special(lazy::ops::ScaledModifiedBesselK1, x,
                 [](Lowering& l, Op x) { return lazy::ScaledK(l, x, 1); });
}
Tensor BesselJ0(const Operand& x) {
  return Special(lazy::ops::BesselJ0, x, [](Lowering& l, Op x) { return lazy::BesselJ(l, x, 0); });
}
Tensor BesselJ1(const Operand& x) {
  return Special(lazy::ops::BesselJ1, x, [](Lowering& l, Op x) { return lazy::BesselJ(l, x, 1); });
}
Tensor BesselY0(const Operand& x) {
  return Special(lazy::ops::BesselY0, x, [](Lowering& l, Op x) { return lazy::BesselY(l, x, 0); });
}
Tensor BesselY1(const Operand& x) {
  return Special(lazy::ops::BesselY1, x, [](Lowering& l, Op x) { return lazy::BesselY(l, x, 1); });
}
Tensor SphericalBesselJ0(const Operand& x) {
  return Special(lazy::ops::SphericalBesselJ0, x, [](Lowering& l, Op x) {
    return lazy::OwnDerivative(l, "spherical_bessel_j0", {x}, [&](lazy::Operands o) {
      const Op ratio = SelectOps(l, IsEqual(l, o[0], 0), N(l, x, 1), l.b.Unary(hlo::kSine, o[0]) / o[0]);
      return SelectOps(l, IsEqual(l, l.b.Unary(hlo::kAbs, o[0]), kInfinity), N(l, x, 0), ratio);
    });
  });
}
Tensor AiryAi(const Operand& x) { return Special(lazy::ops::AiryAi, x, lazy::AiryAi); }

}  // namespace hlod
