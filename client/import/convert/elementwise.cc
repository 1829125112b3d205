// Converts the operations that HLO has, too: one row per operation.
#include <optional>
#include <utility>

#include "client/import/convert/conversion.h"

namespace hlod::stablehlo {
namespace {

using hlo::Opcode;
using enum hlo::Opcode;

// Converts element types. Returns the operand itself when it has the type already. Of a complex
// number the real part is converted, also to i1, where HLO's convert does not define the parts that decide.
Values Convert(Conversion& c) {
  if (c.shape(0).type == c.stated().type) return {c.operand(0)};
  if (hlo::IsComplex(c.shape(0).type) && !hlo::IsComplex(c.stated().type)) {
    const Op real = c.b.Unary(kReal, c.operand(0));
    if (c.b.shape(real).type == c.stated().type) return {real};
    return {c.b.Convert(real, c.stated().type)};
  }
  return Plain(c);
}

// Returns the integer type of the other signedness, in which comparisons of `type` are done; nullopt if
// `element` is that type already.
std::optional<hlo::PrimitiveType> OtherReading(hlo::PrimitiveType element, hlo::ComparisonType type) {
  using enum hlo::PrimitiveType;
  static constexpr std::pair<hlo::PrimitiveType, hlo::PrimitiveType> kPairs[] = {
      {kS2, kU2}, {kS4, kU4}, {kS8, kU8}, {kS16, kU16}, {kS32, kU32}, {kS64, kU64}};
  for (const auto& [with_sign, without] : kPairs) {
    if (element == with_sign && type == hlo::ComparisonType::kUnsigned) return without;
    if (element == without && type == hlo::ComparisonType::kSigned) return with_sign;
  }
  return std::nullopt;
}

Values Compare(Conversion& c) {
  static constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  static constexpr std::string_view kTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  hlo::CompareAttributes attributes;
  attributes.direction =
      static_cast<hlo::ComparisonDirection>(c.Choice("comparison_direction", kDirections, 0));
  const int64_t type = c.Has("compare_type") ? c.Choice("compare_type", kTypes, 0) : 0;
  attributes.type = hlo::DefaultComparisonType(c.shape(0).type);
  if (type > 0) attributes.type = static_cast<hlo::ComparisonType>(type - 1);
  std::vector<Op> operands = c.operands;
  // MLIR's i32 is signless: UNSIGNED compares its bits as u32, which in HLO is a type of its own.
  const std::optional<hlo::PrimitiveType> other = OtherReading(c.shape(0).type, attributes.type);
  if (other.has_value() && c.shape(1).type == c.shape(0).type) {
    for (Op& operand : operands) {
      Shape shape = c.b.shape(operand);
      shape.type = *other;
      operand = c.b.Add(kBitcastConvert, {operand}, hlo::NoAttributes{}, {}, &shape);
    }
  }
  return Instruction(c, kCompare, operands, attributes);
}

Values ReducePrecision(Conversion& c) {
  hlo::ReducePrecisionAttributes attributes;
  attributes.exponent_bits = static_cast<int32_t>(c.Integer("exponent_bits"));
  attributes.mantissa_bits = static_cast<int32_t>(c.Integer("mantissa_bits"));
  return Instruction(c, kReducePrecision, c.operands, attributes);
}

// Returns the elements of `x` that are not less than those of `y`, and otherwise those of `y`; `greater` is
// false for not greater. Complex numbers, for which HLO has no order, are compared by their real parts, and
// equal real parts by their imaginary parts.
Op Extreme(hlo::Builder& b, Op x, Op y, bool greater) {
  using Order = hlo::ComparisonDirection;
  const Op re[] = {b.Unary(kReal, x), b.Unary(kReal, y)}, im[] = {b.Unary(kImag, x), b.Unary(kImag, y)};
  const Op decides = b.Compare(re[0], re[1], greater ? Order::kGt : Order::kLt);
  const Op tie = b.Binary(kAnd, b.Compare(re[0], re[1], Order::kEq),
                          b.Compare(im[0], im[1], greater ? Order::kGe : Order::kLe));
  return b.Select(b.Binary(kOr, decides, tie), x, y);
}

// Converts maximum and minimum, of which HLO has none for complex numbers.
Values MaximumOrMinimum(Conversion& c) {
  if (!hlo::IsComplex(c.shape(0).type)) return Plain(c);
  return {Extreme(c.b, c.operand(0), c.operand(1), c.rule.opcode == kMaximum)};
}

Values Clamp(Conversion& c) {
  if (!hlo::IsComplex(c.shape(1).type)) return Plain(c);
  const auto bound = [&c](int i) {
    return c.shape(i).IsScalar() ? c.b.Broadcast(c.operand(i), c.shape(1).dims, {}) : c.operand(i);
  };
  return {Extreme(c.b, Extreme(c.b, bound(0), c.operand(1), true), bound(2), false)};
}

constexpr Rule Unary(std::string_view name, Opcode opcode) { return {name, Plain, 1, 1, 0, opcode}; }
constexpr Rule Binary(std::string_view name, Opcode opcode) { return {name, Plain, 2, 1, 0, opcode}; }

constexpr Rule kElementwiseRules[] = {
    Unary("stablehlo.abs", kAbs),
    Unary("stablehlo.bitcast_convert", kBitcastConvert),
    Unary("stablehlo.cbrt", kCbrt),
    Unary("stablehlo.ceil", kCeil),
    Unary("stablehlo.cosine", kCosine),
    Unary("stablehlo.count_leading_zeros", kClz),
    Unary("stablehlo.exponential", kExponential),
    Unary("stablehlo.exponential_minus_one", kExponentialMinusOne),
    Unary("stablehlo.floor", kFloor),
    Unary("stablehlo.imag", kImag),
    Unary("stablehlo.is_finite", kIsFinite),
    Unary("stablehlo.log", kLog),
    Unary("stablehlo.log_plus_one", kLogPlusOne),
    Unary("stablehlo.logistic", kLogistic),
    Unary("stablehlo.negate", kNegate),
    Unary("stablehlo.not", kNot),
    Unary("stablehlo.popcnt", kPopcnt),
    Unary("stablehlo.real", kReal),
    Unary("stablehlo.round_nearest_afz", kRoundNearestAfz),
    Unary("stablehlo.round_nearest_even", kRoundNearestEven),
    Unary("stablehlo.rsqrt", kRsqrt),
    Unary("stablehlo.sign", kSign),
    Unary("stablehlo.sine", kSine),
    Unary("stablehlo.sqrt", kSqrt),
    Unary("stablehlo.tan", kTan),
    Unary("stablehlo.tanh", kTanh),
    Binary("stablehlo.add", kAdd),
    Binary("stablehlo.and", kAnd),
    Binary("stablehlo.atan2", kAtan2),
    Binary("stablehlo.complex", kComplex),
    Binary("stablehlo.divide", kDivide),
    {"stablehlo.maximum", MaximumOrMinimum, 2, 1, 0, kMaximum},
    {"stablehlo.minimum", MaximumOrMinimum, 2, 1, 0, kMinimum},
    Binary("stablehlo.multiply", kMultiply),
    Binary("stablehlo.or", kOr),
    Binary("stablehlo.power", kPower),
    Binary("stablehlo.remainder", kRemainder),
    Binary("stablehlo.shift_left", kShiftLeft),
    Binary("stablehlo.shift_right_arithmetic", kShiftRightArithmetic),
    Binary("stablehlo.shift_right_logical", kShiftRightLogical),
    Binary("stablehlo.subtract", kSubtract),
    Binary("stablehlo.xor", kXor),
    {"stablehlo.clamp", Clamp, 3, 1, 0, kClamp},
    {"stablehlo.select", Plain, 3, 1, 0, kSelect},
    {"stablehlo.compare", Compare, 2},
    {"stablehlo.convert", Convert, 1, 1, 0, kConvert},
    {"stablehlo.reduce_precision", ReducePrecision, 1},
};

}  // namespace

absl::Span<const Rule> ElementwiseRules() { return kElementwiseRules; }

}  // namespace hlod::stablehlo
