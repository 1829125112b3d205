// Writes elementwise operations, of StableHLO or, where it has none, of CHLO.
#include "client/import/write/draft.h"
#include "common/hlo/names/spelling.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;

void Compare(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& compare = instruction.attributes<hlo::CompareAttributes>();
  attributes["comparison_direction"] = Enum("comparison_direction", hlo::DirectionName(compare.direction));
  attributes["compare_type"] = Enum("comparison_type", hlo::ComparisonTypeName(compare.type));
}

void ReducePrecision(hlo::Instruction instruction, AttributeMap& attributes) {
  const auto& format = instruction.attributes<hlo::ReducePrecisionAttributes>();
  attributes["exponent_bits"] = Number(format.exponent_bits, hlo::kS32);
  attributes["mantissa_bits"] = Number(format.mantissa_bits, hlo::kS32);
}

constexpr Row kElementwiseRows[] = {
    {kAbs, "stablehlo.abs"},
    {kAcos, "chlo.acos"},
    {kAcosh, "chlo.acosh"},
    {kAsin, "chlo.asin"},
    {kAsinh, "chlo.asinh"},
    {kAtan, "chlo.atan"},
    {kAtanh, "chlo.atanh"},
    {kCosh, "chlo.cosh"},
    {kSinh, "chlo.sinh"},
    {kErf, "chlo.erf"},
    {kCbrt, "stablehlo.cbrt"},
    {kCeil, "stablehlo.ceil"},
    {kFloor, "stablehlo.floor"},
    {kRoundNearestAfz, "stablehlo.round_nearest_afz"},
    {kRoundNearestEven, "stablehlo.round_nearest_even"},
    {kConvert, "stablehlo.convert"},
    {kBitcastConvert, "stablehlo.bitcast_convert"},
    {kCosine, "stablehlo.cosine"},
    {kSine, "stablehlo.sine"},
    {kTan, "stablehlo.tan"},
    {kTanh, "stablehlo.tanh"},
    {kExponential, "stablehlo.exponential"},
    {kExponentialMinusOne, "stablehlo.exponential_minus_one"},
    {kLog, "stablehlo.log"},
    {kLogPlusOne, "stablehlo.log_plus_one"},
    {kLogistic, "stablehlo.logistic"},
    {kSqrt, "stablehlo.sqrt"},
    {kRsqrt, "stablehlo.rsqrt"},
    {kNegate, "stablehlo.negate"},
    {kNot, "stablehlo.not"},
    {kSign, "stablehlo.sign"},
    {kIsFinite, "stablehlo.is_finite"},
    {kReal, "stablehlo.real"},
    {kImag, "stablehlo.imag"},
    {kPopcnt, "stablehlo.popcnt"},
    {kClz, "stablehlo.count_leading_zeros"},
    {kReducePrecision, "stablehlo.reduce_precision", ReducePrecision},
    {kAdd, "stablehlo.add"},
    {kSubtract, "stablehlo.subtract"},
    {kMultiply, "stablehlo.multiply"},
    {kDivide, "stablehlo.divide"},
    {kRemainder, "stablehlo.remainder"},
    {kPower, "stablehlo.power"},
    {kMaximum, "stablehlo.maximum"},
    {kMinimum, "stablehlo.minimum"},
    {kAtan2, "stablehlo.atan2"},
    {kAnd, "stablehlo.and"},
    {kOr, "stablehlo.or"},
    {kXor, "stablehlo.xor"},
    {kShiftLeft, "stablehlo.shift_left"},
    {kShiftRightArithmetic, "stablehlo.shift_right_arithmetic"},
    {kShiftRightLogical, "stablehlo.shift_right_logical"},
    {kComplex, "stablehlo.complex"},
    {kCompare, "stablehlo.compare", Compare},
    {kSelect, "stablehlo.select"},
    {kClamp, "stablehlo.clamp"},
};

}  // namespace

absl::Span<const Row> ElementwiseRows() { return kElementwiseRows; }

}  // namespace hlod::stablehlo::write
