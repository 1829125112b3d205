// Derivatives of elementwise opcodes. client/include/hlod/transform/foreign_kinks.inc lists the choices at
// kinks.
#include <cmath>
#include <numbers>

#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {
namespace {

using Order = hlo::ComparisonDirection;

Op N(const TangentArgs& c, const Scalar& value) { return c.l.Number(c.l.type(c.y), value); }
Op Unary(const TangentArgs& c, hlo::Opcode opcode, Op x) { return c.l.b.Unary(opcode, x); }

// The rule of an opcode with one operand, whose derivative is an expression of the operand x and the result
// y.
template <Op (*derivative)(const TangentArgs&, Op x, Op y)>
Tangents Scaled(const TangentArgs& c) {
  return {c.t[0] * derivative(c, c.x[0], c.y)};
}

Op AbsTangent(const TangentArgs& c) {
  const Op x = c.x[0];
  Lowering& l = c.l;
  if (!hlo::IsComplex(l.type(x))) {  // The sign of x, but 0 for NaN.
    return c.t[0] * l.b.Select(l.b.Compare(x, x, Order::kEq), Unary(c, hlo::kSign, x), Zeros(l, c.shape));
  }
  // Re(conj(x) t) / |x|, and 0 at 0.
  const Op re = l.b.Unary(hlo::kReal, c.t[0]), im = l.b.Unary(hlo::kImag, c.t[0]);
  const Op zero = l.b.Compare(c.y, N(c, 0), Order::kEq);
  const Op size = l.b.Select(zero, N(c, 1), c.y);
  return re * (l.b.Unary(hlo::kReal, x) / size) + im * (l.b.Unary(hlo::kImag, x) / size);
}

Op Rsqrt(const TangentArgs& c, Op x) { return Unary(c, hlo::kRsqrt, x); }
Op DAcos(const TangentArgs& c, Op x, Op) { return Unary(c, hlo::kNegate, Rsqrt(c, N(c, 1) - x * x)); }
Op DAsin(const TangentArgs& c, Op x, Op) { return Rsqrt(c, N(c, 1) - x * x); }
Op DAtan(const TangentArgs& c, Op x, Op) { return N(c, 1) / (N(c, 1) + x * x); }
// The product of roots has the branches of acosh where the real part is negative; the root of the product has
// not.
Op DAcosh(const TangentArgs& c, Op x, Op) {
  if (hlo::IsComplex(c.l.type(x))) return Rsqrt(c, x - N(c, 1)) * Rsqrt(c, x + N(c, 1));
  return Rsqrt(c, x * x - N(c, 1));
}
Op DAsinh(const TangentArgs& c, Op x, Op) { return Rsqrt(c, x * x + N(c, 1)); }
Op DAtanh(const TangentArgs& c, Op x, Op) { return N(c, 1) / ((N(c, 1) - x) * (N(c, 1) + x)); }
Op DCosh(const TangentArgs& c, Op x, Op) { return Unary(c, hlo::kSinh, x); }
Op DSinh(const TangentArgs& c, Op x, Op) { return Unary(c, hlo::kCosh, x); }
Op DCos(const TangentArgs& c, Op x, Op) { return Unary(c, hlo::kNegate, Unary(c, hlo::kSine, x)); }
Op DSin(const TangentArgs& c, Op x, Op) { return Unary(c, hlo::kCosine, x); }
Op DTan(const TangentArgs& c, Op, Op y) { return N(c, 1) + y * y; }
Op DTanh(const TangentArgs& c, Op, Op y) { return N(c, 1) - y * y; }
// A square has higher derivatives at 0 and at infinity, too.
Op DCbrt(const TangentArgs& c, Op, Op y) {
  const Op inverse = N(c, 1) / y;
  return N(c, 1. / 3) * inverse * inverse;
}
Op DErf(const TangentArgs& c, Op x, Op) {
  return Unary(c, hlo::kExponential, Unary(c, hlo::kNegate, x * x)) * N(c, 2 / std::sqrt(std::numbers::pi));
}
Op DExp(const TangentArgs&, Op, Op y) { return y; }
Op DExpm1(const TangentArgs& c, Op, Op y) { return y + N(c, 1); }
Op DLogistic(const TangentArgs& c, Op, Op y) { return y * (N(c, 1) - y); }
Op DSqrt(const TangentArgs& c, Op, Op y) { return N(c, 0.5) / y; }
Op DRsqrt(const TangentArgs& c, Op, Op y) { return N(c, -0.5) * (y * y * y); }

Tangents Abs(const TangentArgs& c) { return {AbsTangent(c)}; }
Tangents Log(const TangentArgs& c) { return {c.t[0] / c.x[0]}; }
Tangents Log1p(const TangentArgs& c) { return {c.t[0] / (c.x[0] + N(c, 1))}; }

// The derivative of z / |z| for complex numbers: the part of t that rotates z, i y Im(conj(y) t) / |z|; 0 at
// 0.
Tangents Sign(const TangentArgs& c) {
  if (!hlo::IsComplex(c.shape.type)) return {Op{}};
  Lowering& l = c.l;
  const Op re = l.b.Unary(hlo::kReal, c.y), im = l.b.Unary(hlo::kImag, c.y);
  const Op size = l.b.Unary(hlo::kAbs, c.x[0]);
  const Op zero = l.b.Compare(size, l.Number(l.type(size), 0), Order::kEq);
  const Op divisor = l.b.Select(zero, l.Number(l.type(size), 1), size);
  const Op turn = (l.b.Unary(hlo::kImag, c.t[0]) * re - l.b.Unary(hlo::kReal, c.t[0]) * im) / divisor;
  return {l.b.Binary(hlo::kComplex, turn * l.b.Unary(hlo::kNegate, im), turn * re)};
}

Tangents Convert(const TangentArgs& c) {
  const bool both = IsDifferentiable(c.shape.type) && IsDifferentiable(c.l.type(c.x[0]));
  return {both ? c.Again() : Op{}};
}

// Add and subtract are linear in both operands.
Tangents Add(const TangentArgs& c) { return {SumOf(c.l, c.t[0], c.t[1])}; }
Tangents Subtract(const TangentArgs& c) {
  if (IsZero(c.t[1])) return {c.t[0]};
  const Op negative = Unary(c, hlo::kNegate, c.t[1]);
  return {IsZero(c.t[0]) ? negative : c.t[0] - c.t[1]};
}

// Returns the sum of the operands' tangents, each times a factor, which is computed only when the tangent is
// present.
template <Op (*by_x)(const TangentArgs&), Op (*by_y)(const TangentArgs&)>
Tangents Sum(const TangentArgs& c) {
  const Op left = IsZero(c.t[0]) ? Op{} : c.t[0] * by_x(c);
  const Op right = IsZero(c.t[1]) ? Op{} : c.t[1] * by_y(c);
  return {SumOf(c.l, left, right)};
}
Op First(const TangentArgs& c) { return c.x[0]; }
Op Second(const TangentArgs& c) { return c.x[1]; }

Tangents Divide(const TangentArgs& c) {
  const Op left = IsZero(c.t[0]) ? Op{} : c.t[0] / c.x[1];
  const Op right = IsZero(c.t[1]) ? Op{} : c.t[1] * Unary(c, hlo::kNegate, c.y / c.x[1]);
  return {SumOf(c.l, left, right)};
}

Tangents Remainder(const TangentArgs& c) {
  if (IsZero(c.t[1])) return {c.t[0]};
  const Op quotient = c.x[0] / c.x[1];
  const Op whole = Unary(c, hlo::kSign, quotient) * Unary(c, hlo::kFloor, Unary(c, hlo::kAbs, quotient));
  return {SumOf(c.l, c.t[0], c.t[1] * Unary(c, hlo::kNegate, whole))};
}

Op PowerByX(const TangentArgs& c) {
  // y x^(y - 1); 0 where y is 0 and x is 0 or NaN.
  Lowering& l = c.l;
  const Op pole =
      l.b.Binary(hlo::kOr, l.b.Compare(c.x[0], N(c, 0), Order::kEq), l.b.Compare(c.x[0], c.x[0], Order::kNe));
  const Op zero = l.b.Binary(hlo::kAnd, l.b.Compare(c.x[1], N(c, 0), Order::kEq), pole);
  const Op power = l.b.Binary(hlo::kPower, c.x[0], l.b.Select(zero, N(c, 1), c.x[1] - N(c, 1)));
  return l.b.Select(zero, N(c, 0), c.x[1] * power);
}
Op PowerByY(const TangentArgs& c) {
  // log(x) x^y; 0 where x is 0 and y is not negative.
  Lowering& l = c.l;
  const Op y = hlo::IsComplex(l.type(c.x[1])) ? l.b.Unary(hlo::kReal, c.x[1]) : c.x[1];
  const Op least = l.b.Compare(y, l.Full(l.type(y), l.dims(y), 0), Order::kGe);
  const Op zero = l.b.Binary(hlo::kAnd, l.b.Compare(c.x[0], N(c, 0), Order::kEq), least);
  return l.b.Select(zero, N(c, 0), c.y * Unary(c, hlo::kLog, l.b.Select(zero, N(c, 1), c.x[0])));
}

// Returns 1 where operand `i` is chosen, 0 where the other one is, 1/2 where they are equal, and 1 where one
// is NaN.
Op ChosenOperand(const TangentArgs& c, size_t i) {
  Lowering& l = c.l;
  const Order worse = c.opcode == hlo::kMaximum ? Order::kLt : Order::kGt;
  const Op ahead = l.b.Select(l.b.Compare(c.x[i], c.x[1 - i], worse), N(c, 0), N(c, 1));
  return l.b.Select(l.b.Compare(c.x[0], c.x[1], Order::kEq), N(c, 0.5), ahead);
}
Op FirstChosen(const TangentArgs& c) { return ChosenOperand(c, 0); }
Op SecondChosen(const TangentArgs& c) { return ChosenOperand(c, 1); }
Tangents Extreme(const TangentArgs& c) {
  if (!hlo::IsFloat(c.shape.type)) return {Op{}};
  return Sum<FirstChosen, SecondChosen>(c);
}

Op Atan2ByFirst(const TangentArgs& c) { return c.x[1] / (c.x[0] * c.x[0] + c.x[1] * c.x[1]); }
Op Atan2BySecond(const TangentArgs& c) {
  return Unary(c, hlo::kNegate, c.x[0] / (c.x[0] * c.x[0] + c.x[1] * c.x[1]));
}

Tangents Select(const TangentArgs& c) { return {c.l.b.Select(c.x[0], c.TangentOf(1), c.TangentOf(2))}; }

// clamp is min(max(x, low), high). At a bound, the derivatives by x and by the bound are 0, as in JAX. Where
// low > high, the result is high.
Tangents Clamp(const TangentArgs& c) {
  Lowering& l = c.l;
  const Dims dims = c.shape.dims;
  const Op low = l.BroadcastTo(c.x[0], dims), x = c.x[1], high = l.BroadcastTo(c.x[2], dims);
  const auto both = [&](Op a, Op b) { return l.b.Binary(hlo::kAnd, a, b); };
  const auto where = [&](Op pred, Op tangent) {
    return l.b.Select(pred, l.BroadcastTo(tangent, dims), Zeros(l, c.shape));
  };
  const Op in_order = l.b.Compare(low, high, Order::kLt);
  Op sum;
  if (!IsZero(c.t[0])) sum = where(both(l.b.Compare(x, low, Order::kLt), in_order), c.t[0]);
  if (!IsZero(c.t[1])) {
    const Op inside = both(l.b.Compare(x, low, Order::kGt), l.b.Compare(x, high, Order::kLt));
    sum = SumOf(l, sum, where(inside, c.t[1]));
  }
  if (!IsZero(c.t[2])) {
    const Op above =
        l.b.Binary(hlo::kOr, l.b.Compare(x, high, Order::kGt), l.b.Compare(low, high, Order::kGt));
    sum = SumOf(l, sum, where(above, c.t[2]));
  }
  return {sum};
}

Cotangents TNegate(const TransposeArgs& c) { return {c.l.b.Unary(hlo::kNegate, c.ct)}; }
Cotangents TCopy(const TransposeArgs& c) { return {c.ct}; }
Cotangents TReducePrecision(const TransposeArgs& c) {  // The cotangent is rounded like the operand.
  return {c.l.b.Add(hlo::kReducePrecision, {c.ct}, c.attributes)};
}
Cotangents TAdd(const TransposeArgs& c) { return {c.IsLinear(0) ? c.ct : Op{}, c.IsLinear(1) ? c.ct : Op{}}; }
Cotangents TSubtract(const TransposeArgs& c) {
  return {c.IsLinear(0) ? c.ct : Op{}, c.IsLinear(1) ? c.l.b.Unary(hlo::kNegate, c.ct) : Op{}};
}
Cotangents TMultiply(const TransposeArgs& c) {
  if (c.IsLinear(0)) return {c.ct * c.x[1], Op{}};
  return {Op{}, c.ct * c.x[0]};
}
Cotangents TDivide(const TransposeArgs& c) { return {c.ct / c.x[1], Op{}}; }
Cotangents TConvert(const TransposeArgs& c) { return {ToOperandType(c.l, c.ct, c.operands[0]->type)}; }
// The pairing <ct, z> is Re(ct z), as in JAX. The real part of a real number is the number, its imaginary
// part is 0.
Cotangents TReal(const TransposeArgs& c) {
  if (!hlo::IsComplex(c.operands[0]->type)) return {c.ct};
  return {c.l.b.Binary(hlo::kComplex, c.ct, Zeros(c.l, c.l.shape(c.ct)))};
}
Cotangents TImag(const TransposeArgs& c) {
  if (!hlo::IsComplex(c.operands[0]->type)) return {Op{}};
  return {c.l.b.Binary(hlo::kComplex, Zeros(c.l, c.l.shape(c.ct)), c.l.b.Unary(hlo::kNegate, c.ct))};
}
Cotangents TComplex(const TransposeArgs& c) {
  Cotangents both(2);
  if (c.IsLinear(0)) both[0] = c.l.b.Unary(hlo::kReal, c.ct);
  if (c.IsLinear(1)) both[1] = c.l.b.Unary(hlo::kNegate, c.l.b.Unary(hlo::kImag, c.ct));
  return both;
}
Cotangents TSelect(const TransposeArgs& c) {
  const Op zero = Zeros(c.l, c.shape);
  Cotangents all(3);
  if (c.IsLinear(1)) all[1] = c.l.b.Select(c.x[0], c.ct, zero);
  if (c.IsLinear(2)) all[2] = c.l.b.Select(c.x[0], zero, c.ct);
  return all;
}

struct TangentRow {
  hlo::Opcode opcode;
  TangentRule rule;
};
constexpr TangentRow kTangents[] = {
    {hlo::kAbs, Abs},
    {hlo::kAcos, Scaled<DAcos>},
    {hlo::kAcosh, Scaled<DAcosh>},
    {hlo::kAsin, Scaled<DAsin>},
    {hlo::kAsinh, Scaled<DAsinh>},
    {hlo::kAtan, Scaled<DAtan>},
    {hlo::kAtanh, Scaled<DAtanh>},
    {hlo::kCosh, Scaled<DCosh>},
    {hlo::kSinh, Scaled<DSinh>},
    {hlo::kCbrt, Scaled<DCbrt>},
    {hlo::kConvert, Convert},
    {hlo::kCopy, LinearInAll},
    {hlo::kCosine, Scaled<DCos>},
    {hlo::kSine, Scaled<DSin>},
    {hlo::kTan, Scaled<DTan>},
    {hlo::kTanh, Scaled<DTanh>},
    {hlo::kErf, Scaled<DErf>},
    {hlo::kExponential, Scaled<DExp>},
    {hlo::kExponentialMinusOne, Scaled<DExpm1>},
    {hlo::kLog, Log},
    {hlo::kLogPlusOne, Log1p},
    {hlo::kLogistic, Scaled<DLogistic>},
    {hlo::kSqrt, Scaled<DSqrt>},
    {hlo::kRsqrt, Scaled<DRsqrt>},
    {hlo::kNegate, LinearInAll},
    {hlo::kSign, Sign},
    {hlo::kReal, LinearInAll},
    {hlo::kImag, LinearInAll},
    {hlo::kReducePrecision, LinearInAll},
    {hlo::kAdd, Add},
    {hlo::kSubtract, Subtract},
    {hlo::kMultiply, Sum<Second, First>},
    {hlo::kDivide, Divide},
    {hlo::kRemainder, Remainder},
    {hlo::kPower, Sum<PowerByX, PowerByY>},
    {hlo::kMaximum, Extreme},
    {hlo::kMinimum, Extreme},
    {hlo::kAtan2, Sum<Atan2ByFirst, Atan2BySecond>},
    {hlo::kComplex, LinearInAll},
    {hlo::kSelect, Select},
    {hlo::kClamp, Clamp},
};

// Opcodes whose result is constant almost everywhere, or integers.
constexpr hlo::Opcode kWithoutTangent[] = {hlo::kCeil,
                                           hlo::kFloor,
                                           hlo::kRoundNearestAfz,
                                           hlo::kRoundNearestEven,
                                           hlo::kNot,
                                           hlo::kIsFinite,
                                           hlo::kPopcnt,
                                           hlo::kClz,
                                           hlo::kMulhi,
                                           hlo::kAnd,
                                           hlo::kOr,
                                           hlo::kXor,
                                           hlo::kShiftLeft,
                                           hlo::kShiftRightArithmetic,
                                           hlo::kShiftRightLogical,
                                           hlo::kCompare,
                                           hlo::kBitcastConvert};

struct TransposeRow {
  hlo::Opcode opcode;
  TransposeRule rule;
};
constexpr TransposeRow kTransposes[] = {
    {hlo::kNegate, TNegate}, {hlo::kCopy, TCopy},         {hlo::kReducePrecision, TReducePrecision},
    {hlo::kAdd, TAdd},       {hlo::kSubtract, TSubtract}, {hlo::kMultiply, TMultiply},
    {hlo::kDivide, TDivide}, {hlo::kConvert, TConvert},   {hlo::kReal, TReal},
    {hlo::kImag, TImag},     {hlo::kComplex, TComplex},   {hlo::kSelect, TSelect},
};

}  // namespace

void AddElementwiseRules(Rules& rules) {
  for (const TangentRow& row : kTangents) rules.tangent[static_cast<size_t>(row.opcode)] = row.rule;
  for (const hlo::Opcode opcode : kWithoutTangent) rules.tangent[static_cast<size_t>(opcode)] = NoTangent();
  for (const TransposeRow& row : kTransposes) rules.transpose[static_cast<size_t>(row.opcode)] = row.rule;
}

}  // namespace hlod::lazy
