// The arithmetic of sizes: one row per opcode, element by element, wrapped to the element type.
#include "client/import/convert/known_integers.h"

#include <algorithm>

#include "common/hlo/elements/convert.h"

namespace hlod::stablehlo {
namespace {

constexpr int64_t kElementsMax = 256;

bool IsCounted(const hlo::Shape& shape) {
  if (!shape.IsArray() || shape.type == hlo::kU64) return false;  // A size fits into an s64.
  if (!hlo::IsInteger(shape.type) && shape.type != hlo::kPred) return false;
  const std::optional<int64_t> count = hlo::ElementCount(shape);
  return count.has_value() && *count <= kElementsMax && !shape.HasDynamicDimension();
}

// Returns `value` wrapped to the element type.
int64_t Wrapped(int64_t value, hlo::PrimitiveType type) {
  const int bits = hlo::Info(type).bits;
  if (type == hlo::kPred) return value != 0;
  if (bits >= 64) return value;
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  const bool negative = hlo::IsSigned(type) && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low | ~((uint64_t{1} << bits) - 1) : low);
}

std::optional<int64_t> Binary(hlo::Opcode opcode, int64_t a, int64_t b) {
  const auto u = [](int64_t x) { return static_cast<uint64_t>(x); };
  switch (opcode) {
    case hlo::kAdd: return static_cast<int64_t>(u(a) + u(b));
    case hlo::kSubtract: return static_cast<int64_t>(u(a) - u(b));
    case hlo::kMultiply: return static_cast<int64_t>(u(a) * u(b));
    case hlo::kMaximum: return std::max(a, b);
    case hlo::kMinimum: return std::min(a, b);
    case hlo::kAnd: return a & b;
    case hlo::kOr: return a | b;
    case hlo::kXor: return a ^ b;
    case hlo::kDivide:
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      return a / b;
    case hlo::kRemainder:
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      return a % b;
    default: return std::nullopt;
  }
}

// Returns 0 for a negative exponent, as HLO does for all bases but 1 and -1.
int64_t Powered(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? ((exponent & 1) != 0 ? -1 : 1) : 0;
  uint64_t result = 1, factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left >>= 1, factor *= factor) {
    if ((left & 1) != 0) result *= factor;
  }
  return static_cast<int64_t>(result);
}

// An amount that is negative, or at least the type's width, shifts out all bits.
int64_t Shifted(hlo::Instruction shift, int64_t value, int64_t amount) {
  const int bits = hlo::Info(shift.shape().type).bits;
  const bool out = amount < 0 || amount >= bits;
  const auto word = static_cast<uint64_t>(value);
  if (shift.opcode() == hlo::kShiftRightArithmetic) {
    // shift-right-arithmetic of an unsigned type shifts in its own top bit, too.
    const auto wide = static_cast<int64_t>(word << (64 - bits)) >> (64 - bits);
    return wide >> (out ? 63 : amount);
  }
  if (out) return 0;
  if (shift.opcode() == hlo::kShiftLeft) return static_cast<int64_t>(word << amount);
  return static_cast<int64_t>((bits < 64 ? word & ((uint64_t{1} << bits) - 1) : word) >> amount);
}

bool Compared(hlo::ComparisonDirection direction, int64_t a, int64_t b) {
  switch (direction) {
    case hlo::ComparisonDirection::kEq: return a == b;
    case hlo::ComparisonDirection::kNe: return a != b;
    case hlo::ComparisonDirection::kGe: return a >= b;
    case hlo::ComparisonDirection::kGt: return a > b;
    case hlo::ComparisonDirection::kLe: return a <= b;
    case hlo::ComparisonDirection::kLt: return a < b;
  }
  return false;
}

std::optional<int64_t> Element(hlo::Instruction instruction, absl::Span<const int64_t> operands) {
  switch (instruction.opcode()) {
    case hlo::kConvert: return operands[0];
    case hlo::kAbs:
      return static_cast<int64_t>(operands[0] < 0 ? -static_cast<uint64_t>(operands[0])
                                                  : static_cast<uint64_t>(operands[0]));
    case hlo::kSign: return operands[0] < 0 ? -1 : operands[0] > 0 ? 1 : 0;
    case hlo::kPower: return Powered(operands[0], operands[1]);
    case hlo::kShiftLeft:
    case hlo::kShiftRightLogical:
    case hlo::kShiftRightArithmetic: return Shifted(instruction, operands[0], operands[1]);
    case hlo::kNegate: return static_cast<int64_t>(-static_cast<uint64_t>(operands[0]));
    case hlo::kNot: return instruction.shape().type == hlo::kPred ? !operands[0] : ~operands[0];
    case hlo::kCompare:
      return Compared(instruction.attributes<hlo::CompareAttributes>().direction, operands[0], operands[1]);
    case hlo::kSelect: return operands[0] != 0 ? operands[1] : operands[2];
    case hlo::kClamp: return std::min(std::max(operands[1], operands[0]), operands[2]);
    default:
      return operands.size() == 2 ? Binary(instruction.opcode(), operands[0], operands[1]) : std::nullopt;
  }
}

}  // namespace

std::optional<Integers> IntegersOf(const hlo::Literal& literal) {
  if (!IsCounted(literal.shape())) return std::nullopt;
  Integers values;
  VisitType(literal.shape().type, [&]<typename T>() {
    for (const T element : literal.data<T>()) {
      if constexpr (!hlo::kIsSmallFloat<T> && !std::is_floating_point_v<T> &&
                    !std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>) {
        values.push_back(hlo::ConvertElement<int64_t>(element));
      }
    }
  });
  return values;
}

hlo::Literal LiteralOf(const Integers& values, const hlo::Shape& shape) {
  hlo::Literal literal(hlo::Shape::Array(shape.type, shape.dims));
  VisitType(shape.type, [&]<typename T>() {
    for (size_t i = 0; i < values.size(); ++i) literal.data<T>()[i] = hlo::ConvertElement<T>(values[i]);
  });
  return literal;
}

std::optional<Integers> Fold(hlo::Instruction instruction,
                             const std::function<const Integers*(hlo::NodeId)>& known) {
  const hlo::Shape& shape = instruction.shape();
  if (!IsCounted(shape)) return std::nullopt;
  if (instruction.opcode() == hlo::kConstant) return IntegersOf(instruction.literal());
  std::vector<const Integers*> operands;
  for (const hlo::NodeId operand : instruction.operands()) {
    operands.push_back(known(operand));
    if (operands.back() == nullptr) return std::nullopt;
  }
  if (operands.empty()) return std::nullopt;
  const size_t count = static_cast<size_t>(*hlo::ElementCount(shape));
  switch (instruction.opcode()) {
    case hlo::kReshape: return *operands[0];
    case hlo::kBroadcast:
      return operands[0]->size() == 1 ? std::optional(Integers(count, operands[0]->front())) : std::nullopt;
    case hlo::kConcatenate: {
      // For each row before the dimension, appends a run of each operand.
      const auto d = static_cast<size_t>(instruction.dimensions()[0]);
      int64_t rows = 1;
      for (size_t i = 0; i < d; ++i) rows *= shape.dims[i];
      Integers all;
      for (int64_t row = 0; row < rows; ++row) {
        for (const Integers* part : operands) {
          const auto run = static_cast<int64_t>(part->size()) / rows;
          all.insert(all.end(), part->begin() + row * run, part->begin() + (row + 1) * run);
        }
      }
      return all;
    }
    case hlo::kSlice: {
      if (shape.rank() != 1) return std::nullopt;
      const auto& slice = instruction.attributes<hlo::SliceAttributes>();
      Integers part;
      // Counts the elements instead of comparing places, because a step may lead beyond the last number.
      for (int64_t k = 0, i = slice.start[0]; k < shape.dims[0]; ++k) {
        part.push_back((*operands[0])[static_cast<size_t>(i)]);
        if (k + 1 < shape.dims[0]) i += slice.stride[0];
      }
      return part;
    }
    default: break;
  }
  if (!hlo::HasTrait(instruction.opcode(), hlo::kElementwise)) return std::nullopt;
  Integers result;
  for (size_t i = 0; i < count; ++i) {
    absl::InlinedVector<int64_t, 3> elements;
    for (const Integers* operand : operands) elements.push_back((*operand)[operand->size() == 1 ? 0 : i]);
    const std::optional<int64_t> element = Element(instruction, elements);
    if (!element.has_value()) return std::nullopt;
    result.push_back(Wrapped(*element, shape.type));
  }
  return result;
}

}  // namespace hlod::stablehlo
