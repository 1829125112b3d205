// Orthogonal polynomials: Chebyshev's in closed form, the others by recurrence.
#include "client/tensor/ops/special/polynomials.h"

#include <functional>
#include <limits>

#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/tensor/ops/reduction/loop.h"
#include "client/tensor/value/numbers.h"
#include "hlod/ops/special.h"

namespace hlod {
namespace {

using lazy::CompareOps;
using lazy::FullLike;
using lazy::Lowering;
using lazy::N;
using lazy::NumberIn;
using lazy::Op;
using lazy::Order;
using lazy::Refuse;
using lazy::SelectOps;
using lazy::State;

using lazy::kNan;
constexpr double kDegreeMax = 10'000;

Op Is(Lowering& l, Op x, double y) { return CompareOps(l, x, y, Order::kEq); }

// The polynomial of degree 1 is `a x + b`, that of degree 0 is 1. `lower` computes those of higher degrees
// from x and n, which have the same shape and are f64; n is truncated to an integer.
struct Degrees {
  double a, b;
};
template <typename F>
Tensor Polynomial(const lazy::Operation& operation, const Operand& x, const Operand& n, Degrees first,
                  F lower) {
  return lazy::Binary(operation, x, n, [&](Lowering& l, Op x, Op n) {
    const PrimitiveType type = l.type(x);
    if (hlo::IsComplex(type)) Refuse("%s is not a real number", hlo::Name(type));
    const Dims dims = lazy::BroadcastDims(l.dims(x), l.dims(n));
    x = l.Convert(l.BroadcastTo(x, dims), hlo::kF64);
    n = lazy::TruncOps(l, l.Convert(l.BroadcastTo(n, dims), hlo::kF64));
    Op result = lower(l, x, n);
    result = SelectOps(l, Is(l, n, 1), x * N(l, x, first.a) + N(l, x, first.b), result);
    result = SelectOps(l, Is(l, n, 0), N(l, x, 1), result);
    // The result is 0 for a degree that is negative, infinite or NaN.
    const Op degree = l.b.Binary(hlo::kAnd, CompareOps(l, n, 0, Order::kGe),
                                 CompareOps(l, n, std::numeric_limits<double>::max(), Order::kLe));
    return l.Convert(SelectOps(l, degree, result, N(l, x, 0)), type);
  });
}

// The four kinds as functions of the angle t with cos(t) = x, or cosh(t) = x for x > 1. For x < -1 they
// follow from the values at -x: T and U with the sign (-1)^n, V and W from each other with that sign.
using Kind = lazy::Chebyshev;

Op Ratio(Lowering& l, Op t, Op n, Kind kind, bool hyperbolic) {
  const auto cosine = [&](Op y) { return l.b.Unary(hyperbolic ? hlo::kCosh : hlo::kCosine, y); };
  const auto sine = [&](Op y) { return l.b.Unary(hyperbolic ? hlo::kSinh : hlo::kSine, y); };
  const Op half = N(l, t, 0.5);
  switch (kind) {
    case Kind::kT: return cosine(n * t);
    case Kind::kU: return sine((n + N(l, t, 1)) * t) / sine(t);
    case Kind::kV: return cosine((n + half) * t) / cosine(t * half);
    case Kind::kW: return sine((n + half) * t) / sine(t * half);
  }
  return t;
}

Op ClosedForm(Lowering& l, Op x, Op n, Kind kind) {
  const Op size = l.b.Unary(hlo::kAbs, x), one = N(l, x, 1), negative = CompareOps(l, x, 0, Order::kLt);
  const Op half_n = n * N(l, n, 0.5);
  const Op odd = l.b.Compare(half_n, l.b.Unary(hlo::kFloor, half_n), Order::kNe);
  const Op turned = l.b.Binary(hlo::kAnd, negative, odd);
  // At x = 1 the ratios have the limits 1, n + 1, 1, 2 n + 1.
  const auto at = [&](Kind kind) {
    const Op inside = Ratio(l, l.b.Unary(hlo::kAcos, size), n, kind, false);
    const Op outside = Ratio(l, l.b.Unary(hlo::kAcosh, size), n, kind, true);
    const Op edge = kind == Kind::kU   ? n + one
                    : kind == Kind::kW ? n + n + one
                                       : l.Full(l.type(x), l.dims(x), 1);
    const Op beyond = SelectOps(l, CompareOps(l, size, 1, Order::kGt), outside, inside);
    const Op finite = SelectOps(l, Is(l, size, std::numeric_limits<double>::infinity()), size, beyond);
    return SelectOps(l, Is(l, size, 1), edge, finite);
  };
  Op result = at(kind);
  if (kind == Kind::kV) result = SelectOps(l, negative, at(Kind::kW), result);
  if (kind == Kind::kW) result = SelectOps(l, negative, at(Kind::kV), result);
  return SelectOps(l, turned, l.b.Unary(hlo::kNegate, result), result);
}

}  // namespace

Op lazy::ChebyshevOps(Lowering& l, Op x, Op n, Chebyshev kind) {
  constexpr std::string_view kRules[] = {"chebyshev_t", "chebyshev_u", "chebyshev_v", "chebyshev_w"};
  return OwnDerivative(l, kRules[static_cast<size_t>(kind)], {x, n},
                       [&](Operands o) { return ClosedForm(l, o[0], o[1], kind); });
}

namespace {

Tensor OfKind(const lazy::Operation& operation, const Operand& x, const Operand& n, Kind kind, bool shifted) {
  // The polynomials of degree 1 are x, 2 x, 2 x - 1 and 2 x + 1; shifted ones use 2 x - 1 instead of x.
  const double a = kind == Kind::kT ? 1 : 2, b = kind == Kind::kV ? -1 : kind == Kind::kW ? 1 : 0;
  const Degrees first = shifted ? Degrees{2 * a, b - a} : Degrees{a, b};
  return Polynomial(operation, x, n, first, [&](Lowering& l, Op x, Op n) {
    return lazy::ChebyshevOps(l, shifted ? x * N(l, x, 2) - N(l, x, 1) : x, n, kind);
  });
}

// Returns p(k + 1) from x, k, p(k) and p(k - 1).
using Step = Op (*)(hlo::Builder& b, Op x, Op k, Op p, Op before);
Tensor Recurrent(const lazy::Operation& operation, const Operand& x, const Operand& n, Degrees first,
                 Step step) {
  return Polynomial(operation, x, n, first, [&](Lowering& l, Op x, Op n) {
    const Op low = CompareOps(l, n, kDegreeMax, Order::kLe);
    const Op target = SelectOps(l, low, n, N(l, n, 0));
    Dims all;
    for (size_t i = 0; i < l.dims(n).size(); ++i) all.push_back(static_cast<int64_t>(i));
    const Op highest = l.Reduce(hlo::kMaximum, target, all);
    const Op one = l.Full(hlo::kF64, l.dims(x), 1);
    // The state s is: k, highest, p(k), p(k - 1), x, n.
    const State state = lazy::While(
        l, {l.Number(hlo::kF64, 1), highest, x * N(l, x, first.a) + N(l, x, first.b), one, x, target},
        [](hlo::Builder& b, const State& s) { return b.Compare(s[0], s[1], Order::kLt); },
        [&](hlo::Builder& b, const State& s) {
          const Dims& dims = b.shape(s[2]).dims;
          const Op k = dims.empty() ? s[0] : b.Broadcast(s[0], dims, {});
          const Op next = step(b, s[4], k, s[2], s[3]);
          const Op active = b.Compare(k, s[5], Order::kLt);
          return State{s[0] + NumberIn(b, hlo::kF64, 1), s[1], b.Select(active, next, s[2]),
                       b.Select(active, s[2], s[3]),     s[4], s[5]};
        });
    return SelectOps(l, low, state[2], N(l, x, kNan));
  });
}

}  // namespace

Tensor ChebyshevPolynomialT(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ChebyshevPolynomialT, x, n, Kind::kT, false);
}
Tensor ChebyshevPolynomialU(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ChebyshevPolynomialU, x, n, Kind::kU, false);
}
Tensor ChebyshevPolynomialV(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ChebyshevPolynomialV, x, n, Kind::kV, false);
}
Tensor ChebyshevPolynomialW(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ChebyshevPolynomialW, x, n, Kind::kW, false);
}
Tensor ShiftedChebyshevPolynomialT(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ShiftedChebyshevPolynomialT, x, n, Kind::kT, true);
}
Tensor ShiftedChebyshevPolynomialU(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ShiftedChebyshevPolynomialU, x, n, Kind::kU, true);
}
Tensor ShiftedChebyshevPolynomialV(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ShiftedChebyshevPolynomialV, x, n, Kind::kV, true);
}
Tensor ShiftedChebyshevPolynomialW(const Operand& x, const Operand& n) {
  return OfKind(lazy::ops::ShiftedChebyshevPolynomialW, x, n, Kind::kW, true);
}

Tensor HermitePolynomialH(const Operand& x, const Operand& n) {
  return Recurrent(
      lazy::ops::HermitePolynomialH, x, n, {2, 0},
      [](hlo::Builder& b, Op x, Op k, Op p, Op before) { return FullLike(b, x, 2) * (x * p - k * before); });
}
Tensor HermitePolynomialHe(const Operand& x, const Operand& n) {
  return Recurrent(lazy::ops::HermitePolynomialHe, x, n, {1, 0},
                   [](hlo::Builder&, Op x, Op k, Op p, Op before) { return x * p - k * before; });
}
Tensor LaguerrePolynomialL(const Operand& x, const Operand& n) {
  return Recurrent(lazy::ops::LaguerrePolynomialL, x, n, {-1, 1},
                   [](hlo::Builder& b, Op x, Op k, Op p, Op before) {
                     const Op one = FullLike(b, x, 1);
                     return ((k + k + one - x) * p - k * before) / (k + one);
                   });
}
Tensor LegendrePolynomialP(const Operand& x, const Operand& n) {
  return Recurrent(lazy::ops::LegendrePolynomialP, x, n, {1, 0},
                   [](hlo::Builder& b, Op x, Op k, Op p, Op before) {
                     const Op one = FullLike(b, x, 1);
                     return ((k + k + one) * x * p - k * before) / (k + one);
                   });
}

}  // namespace hlod
