// Converts CHLO: the functions that JAX emits beside StableHLO's.
#include <limits>

#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "common/hlo/math/special_functions.h"
#include "common/hlo/own_derivative.h"

namespace hlod::stablehlo {
namespace {

using hlo::Opcode;
using enum hlo::Opcode;
using Order = hlo::ComparisonDirection;

// Applies the formula to operands of f32 or f64; narrower types are computed in f32. With rules, the
// operation is a call that has a rule of differentiation.
template <typename F>
Values InWideType(Conversion& c, F formula) {
  const hlo::PrimitiveType type = c.shape(0).type;
  if (!hlo::IsFloat(type)) {
    c.Fail(Unimplemented("Its operands have the type %s; expected a real floating-point type.",
                         hlo::Name(type)));
    return {};
  }
  const bool is_wide = type == hlo::kF32 || type == hlo::kF64;
  std::vector<Op> operands = c.operands;
  for (Op& operand : operands) {
    if (!is_wide) operand = c.b.Convert(operand, hlo::kF32);
  }
  const Op value = c.scope.converter().with_rules() ? hlo::OwnDerivative(c.rule.name, operands, formula)
                                                    : formula(absl::MakeConstSpan(operands));
  return {is_wide ? value : c.b.Convert(value, type)};
}

template <Op (*function)(Op)>
Values Special(Conversion& c) {
  return InWideType(c, [](absl::Span<const Op> x) { return function(x[0]); });
}
template <Op (*function)(Op, Op)>
Values Special2(Conversion& c) {
  if (!hlo::Compatible(c.shape(0), c.shape(1))) {
    c.Fail(InvalidArgument("Its operands are %s and %s; expected equal shapes.",
                           hlo::ToStringNoLayout(c.shape(0)), hlo::ToStringNoLayout(c.shape(1))));
    return {};
  }
  return InWideType(c, [](absl::Span<const Op> x) { return function(x[0], x[1]); });
}

Values NextAfterRule(Conversion& c) {
  const hlo::PrimitiveType type = c.shape(0).type;
  // These 8-bit types have a negative zero, and neighbours that are neighbours as integers, too.
  const bool has_zeros =
      type == hlo::kF8E5M2 || type == hlo::kF8E4M3 || type == hlo::kF8E4M3FN || type == hlo::kF8E3M4;
  if (!hlo::Compatible(c.shape(0), c.shape(1)) || !hlo::IsFloat(type) ||
      (hlo::Info(type).bits < 16 && !has_zeros)) {
    c.Fail(Unimplemented(
        "Its operands are %s and %s; expected equal shapes of a float type with a negative zero.",
        hlo::ToStringNoLayout(c.shape(0)), hlo::ToStringNoLayout(c.shape(1))));
    return {};
  }
  return {hlo::NextAfter(c.operand(0), c.operand(1))};
}

// Squares complex numbers as JAX expands it: the real part is (re - im) (re + im), which is 0 when both are
// equal and finite.
Values Square(Conversion& c) {
  const Op x = c.operand(0);
  if (!hlo::IsComplex(c.shape(0).type)) return {x * x};
  const Op re = c.b.Unary(kReal, x), im = c.b.Unary(kImag, x);
  const Op equal = c.b.Compare(c.b.Unary(kAbs, re), c.b.Unary(kAbs, im), hlo::ComparisonDirection::kEq);
  const Op difference = (re - im) * (re + im);
  // The select applies only where the sum overflows, so that elsewhere the derivative is the product's.
  const Op overflows = c.b.Unary(kNot, c.b.Unary(kIsFinite, difference));
  const Op both = c.b.Binary(kAnd, c.b.Binary(kAnd, c.b.Unary(kIsFinite, re), equal), overflows);
  const Op zero =
      c.b.Broadcast(c.b.Constant(hlo::Literal(Shape::Scalar(c.b.shape(re).type))), c.shape(0).dims, {});
  const Op product = re * im;
  return {c.b.Binary(kComplex, c.b.Select(both, zero, difference), product + product)};
}

Values Conj(Conversion& c) {
  const Op x = c.operand(0);
  if (!hlo::IsComplex(c.shape(0).type)) return {x};
  return {c.b.Binary(kComplex, c.b.Unary(kReal, x), c.b.Unary(kNegate, c.b.Unary(kImag, x)))};
}

// Compares the operand, or with `size` its absolute value, with the infinity `wanted`.
Values IsInfinite(Conversion& c, bool size, float wanted) {
  const Op x = size ? c.b.Unary(kAbs, c.operand(0)) : c.operand(0);
  return {c.b.Compare(x, c.b.Convert(c.b.Constant(wanted), c.shape(0).type), Order::kEq)};
}
constexpr float kInfinity = std::numeric_limits<float>::infinity();
Values IsInf(Conversion& c) { return IsInfinite(c, true, kInfinity); }
Values IsPosInf(Conversion& c) { return IsInfinite(c, false, kInfinity); }
Values IsNegInf(Conversion& c) { return IsInfinite(c, false, -kInfinity); }

// The operands are slices of the inputs, then the carries; the results are the outputs, then the carries
// again.
Values Scan(Conversion& c) {
  hlo::ScanAttributes attributes;
  attributes.dimension = c.Integer("dimension");
  attributes.is_reverse = c.Bool("is_reverse");
  if (c.Has("is_associative")) attributes.is_associative = c.Bool("is_associative") ? 1 : 2;
  const Dims segments = c.Integers("operandSegmentSizes");
  if (segments.size() != 2 || segments[0] < 0 || segments[1] < 0 ||
      segments[0] + segments[1] != static_cast<int64_t>(c.operands.size())) {
    c.Fail(InvalidArgument("Its operandSegmentSizes must be two numbers that add up to (%d) operands.",
                           c.operands.size()));
    return {};
  }
  attributes.num_carries = segments[1];
  const ComputationId body = c.Reducer();
  return Instruction(c, kScan, c.operands, attributes, {body});
}

Values TopK(Conversion& c) {
  return Instruction(c, kTopK, c.operands, hlo::TopKAttributes{c.Integer("k"), c.Bool("largest", true)});
}

constexpr Rule OneOperand(std::string_view name, Opcode opcode) { return {name, Plain, 1, 1, 0, opcode}; }

constexpr Rule kChloRules[] = {
    OneOperand("chlo.acos", kAcos),
    OneOperand("chlo.acosh", kAcosh),
    OneOperand("chlo.asin", kAsin),
    OneOperand("chlo.asinh", kAsinh),
    OneOperand("chlo.atan", kAtan),
    OneOperand("chlo.atanh", kAtanh),
    OneOperand("chlo.cosh", kCosh),
    OneOperand("chlo.erf", kErf),
    OneOperand("chlo.sinh", kSinh),
    OneOperand("chlo.tan", kTan),
    {"chlo.mulhi", Plain, 2, 1, 0, kMulhi},
    {"chlo.bessel_i1e", Special<hlo::BesselI1e>, 1},
    {"chlo.conj", Conj, 1},
    {"chlo.digamma", Special<hlo::Digamma>, 1},
    {"chlo.erf_inv", Special<hlo::ErfInv>, 1},
    {"chlo.erfc", Special<hlo::Erfc>, 1},
    {"chlo.is_inf", IsInf, 1},
    {"chlo.is_neg_inf", IsNegInf, 1},
    {"chlo.is_pos_inf", IsPosInf, 1},
    {"chlo.lgamma", Special<hlo::Lgamma>, 1},
    {"chlo.next_after", NextAfterRule, 2},
    {"chlo.polygamma", Special2<hlo::Polygamma>, 2},
    {"chlo.scan", Scan, -1, -1, 1},
    {"chlo.square", Square, 1},
    {"chlo.top_k", TopK, 1, 2},
    {"chlo.zeta", Special2<hlo::Zeta>, 2},
};

}  // namespace

absl::Span<const Rule> ChloRules() { return kChloRules; }

}  // namespace hlod::stablehlo
