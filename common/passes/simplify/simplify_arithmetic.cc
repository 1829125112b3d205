// Simplifies arithmetic only if the result is the same to the last bit (except NaN payloads): x + 0.0 stays,
// because it turns -0.0 into 0.0; x - 0.0 and x * 1 become x.
#include <cmath>
#include <limits>
#include <optional>

#include "common/passes/simplify/simplify.h"

namespace hlod::passes {

using namespace hlo;

bool IsCommutative(Opcode opcode) {
  return opcode == kAdd || opcode == kMultiply || opcode == kMaximum || opcode == kMinimum ||
         opcode == kAnd || opcode == kOr || opcode == kXor;
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns true when `opcode` with `value` as the right operand is the identity.
bool IsRightNeutral(Opcode opcode, PrimitiveType type, double value) {
  const bool real = IsFloat(type);
  const double all_ones = type == kPred ? 1 : IsSigned(type) ? -1 : std::ldexp(1.0, Info(type).bits) - 1;
  switch (opcode) {
    case kAdd: return value == 0 && (!real || std::signbit(value));
    case kSubtract: return value == 0 && (!real || !std::signbit(value));
    case kMultiply:
    case kDivide:
    case kPower: return value == 1;
    case kMaximum: return (real && value == -kInfinity) || (type == kPred && value == 0);
    case kMinimum: return (real && value == kInfinity) || (type == kPred && value == 1);
    case kAnd:
      // 2^64 - 1 is not representable as a double: it rounds to 2^64, and so does its neighbour, so an
      // all-ones u64 is not recognised.
      return value == all_ones && Info(type).bits <= 32;
    case kOr:
    case kXor:
    case kShiftLeft:
    case kShiftRightArithmetic:
    case kShiftRightLogical: return value == 0;
    default: return false;
  }
}

NodeId SimplifyBinary(const ComputationCopy& copy, Instruction instruction) {
  const Instruction left = copy.operand(instruction, 0), right = copy.operand(instruction, 1);
  const PrimitiveType type = instruction.shape().type;
  const Opcode opcode = instruction.opcode();
  if (const auto value = SplatValue(right); value && IsRightNeutral(opcode, type, *value)) return left.id();
  if (!IsCommutative(opcode)) return kUnchanged;
  if (const auto value = SplatValue(left); value && IsRightNeutral(opcode, type, *value)) return right.id();
  return kUnchanged;
}

// Returns true when every value of `from` is exactly a value of `to`.
bool Holds(PrimitiveType to, PrimitiveType from) {
  const int from_bits = Info(from).bits, to_bits = Info(to).bits;
  if (from == kPred) return IsInteger(to) || IsFloat(to);
  if (IsFloat(from)) return (to == kF32 && from_bits <= 16) || (to == kF64 && from_bits <= 32);
  if (!IsInteger(from)) return false;
  if (to == kF32) return from_bits <= 16;
  if (to == kF64) return from_bits <= 32;
  if (IsSigned(to)) return to_bits > from_bits || (to_bits == from_bits && IsSigned(from));
  return IsUnsigned(to) && IsUnsigned(from) && to_bits >= from_bits;
}

NodeId SimplifyConvert(ComputationCopy& copy, Instruction instruction) {
  const Instruction operand = copy.operand(instruction, 0);
  const PrimitiveType to = instruction.shape().type;
  if (operand.shape().type == to) return operand.id();
  if (operand.opcode() != kConvert) return kUnchanged;
  const Instruction source = operand.operand(0);
  const PrimitiveType from = source.shape().type, middle = operand.shape().type;
  if (!Holds(middle, from)) return kUnchanged;
  // A conversion from float to integer saturates; one from integer to integer wraps.
  if (IsInteger(from) && IsFloat(middle) && IsInteger(to) && !Holds(to, from)) return kUnchanged;
  if (source.shape().type == to) return source.id();
  const NodeId id = source.id();
  return copy.Replace(instruction, kConvert, instruction.shape_id(), NoAttributes{}, {id});
}

NodeId SimplifySelect(const ComputationCopy& copy, Instruction instruction) {
  const NodeId on_true = copy.node(instruction.operands()[1]),
               on_false = copy.node(instruction.operands()[2]);
  if (on_true == on_false) return on_true;
  const std::optional<double> pred = SplatValue(copy.operand(instruction, 0));
  if (!pred) return kUnchanged;
  return *pred != 0 ? on_true : on_false;
}

// Simplifies "not" of "not", and "negate" of "negate".
NodeId SimplifyInvolution(const ComputationCopy& copy, Instruction instruction) {
  const Instruction operand = copy.operand(instruction, 0);
  return operand.opcode() == instruction.opcode() ? operand.operands()[0] : kUnchanged;
}

// Replaces real(complex(a, b)) by a, and imag of it by b.
NodeId SimplifyComplexPart(const ComputationCopy& copy, Instruction instruction) {
  const Instruction operand = copy.operand(instruction, 0);
  if (operand.opcode() == kComplex) return operand.operands()[instruction.opcode() == kReal ? 0 : 1];
  const bool real = instruction.opcode() == kReal && !IsComplex(operand.shape().type);
  return real ? operand.id() : kUnchanged;
}

// Computes a result whose elements are all equal once: an operation on broadcast scalars becomes a broadcast
// of the scalars' result.
NodeId ComputeOnce(ComputationCopy& copy, Instruction instruction) {
  const Opcode opcode = instruction.opcode();
  const bool may =
      HasTrait(opcode, kElementwise) && opcode != kStochasticConvert && ElementCount(instruction.shape()) > 1;
  if (!may) return kUnchanged;
  absl::InlinedVector<NodeId, 4> scalars;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const Instruction operand = copy.operand(instruction, i);
    scalars.push_back(operand.shape().IsScalar() ? operand.id() : SplatSource(operand));
    if (scalars.back() == kUnchanged) return kUnchanged;
  }
  Shape scalar = instruction.shape();
  scalar.dims.clear();
  scalar.dynamic.clear();
  const NodeId once = copy.CloneOver(instruction, scalars, copy.tables().Intern(scalar));
  return copy.Replace(instruction, kBroadcast, instruction.shape_id(), DimensionsAttributes{}, {once});
}

NodeId SimplifyReducePrecision(const ComputationCopy& copy, Instruction instruction) {
  const auto& kept = instruction.attributes<ReducePrecisionAttributes>();
  const auto is = [&](PrimitiveType type, int exponent, int mantissa) {
    return instruction.shape().type == type && kept.exponent_bits >= exponent &&
           kept.mantissa_bits >= mantissa;
  };
  const bool keeps_all = is(kF64, 11, 52) || is(kF32, 8, 23) || is(kBF16, 8, 7) || is(kF16, 5, 10);
  return keeps_all ? copy.node(instruction.operands()[0]) : kUnchanged;
}

}  // namespace

std::optional<double> SplatValue(Instruction instruction) {
  if (instruction.opcode() == kBroadcast) instruction = instruction.operand(0);
  if (instruction.opcode() != kConstant || !instruction.shape().IsScalar()) return std::nullopt;
  if (IsComplex(instruction.shape().type)) return std::nullopt;
  return ElementAsDouble(instruction.literal(), 0);
}

NodeId SimplifyArithmetic(ComputationCopy& copy, Instruction instruction) {
  NodeId now = kUnchanged;
  switch (instruction.opcode()) {
    case kConvert: now = SimplifyConvert(copy, instruction); break;
    case kSelect: now = SimplifySelect(copy, instruction); break;
    case kNot:
    case kNegate: now = SimplifyInvolution(copy, instruction); break;
    case kReal:
    case kImag: now = SimplifyComplexPart(copy, instruction); break;
    case kReducePrecision: now = SimplifyReducePrecision(copy, instruction); break;
    default:
      if (HasTrait(instruction.opcode(), kElementwise) && instruction.operand_count() == 2)
        now = SimplifyBinary(copy, instruction);
  }
  return now != kUnchanged ? now : ComputeOnce(copy, instruction);
}

}  // namespace hlod::passes
