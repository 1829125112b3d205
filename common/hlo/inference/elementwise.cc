// Shape rules of elementwise opcodes: equal dimensions, and the element types that each opcode accepts.
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// A set of TypeClass bits: the element types that a rule accepts.
constexpr unsigned Bit(TypeClass c) { return 1u << static_cast<unsigned>(c); }
constexpr unsigned kPreds = Bit(TypeClass::kPred);
constexpr unsigned kIntegers = Bit(TypeClass::kSigned) | Bit(TypeClass::kUnsigned);
constexpr unsigned kFloats = Bit(TypeClass::kFloat);
constexpr unsigned kComplexes = Bit(TypeClass::kComplex);
constexpr unsigned kAll = kPreds | kIntegers | kFloats | kComplexes;

absl::Status ExpectClass(const InferenceInput& in, size_t i, unsigned classes) {
  RETURN_IF_ERROR(ExpectArray(in, i));
  if ((Bit(Info(Operand(in, i).type).type_class) & classes) != 0) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s has an element type that %s does not take.", i,
                         Text(Operand(in, i)), OpName(in), OpName(in));
}

absl::StatusOr<Shape> Unary(const InferenceInput& in, unsigned classes) {
  RETURN_IF_ERROR(ExpectClass(in, 0, classes));
  return ArrayLike(Operand(in, 0), Operand(in, 0).type);
}

absl::StatusOr<Shape> TwoOperands(const InferenceInput& in, unsigned classes) {
  RETURN_IF_ERROR(ExpectClass(in, 0, classes));
  RETURN_IF_ERROR(ExpectArray(in, 1));
  RETURN_IF_ERROR(ExpectTypeOfFirst(in, 1));
  Shape shape = ArrayLike(Operand(in, 0), Operand(in, 0).type);
  RETURN_IF_ERROR(MergeDimensions(in, 1, shape));
  return shape;
}

absl::Status CheckComparison(const InferenceInput& in) {
  const CompareAttributes& compare = AttributesOf<CompareAttributes>(in);
  const PrimitiveType type = Operand(in, 0).type;
  const bool total_order = compare.type == ComparisonType::kTotalOrder && IsFloat(type);
  if (compare.type != DefaultComparisonType(type) && !total_order) {
    return InvalidArgument("The comparison type (%d) of compare does not suit operands of type (%s).",
                           static_cast<int>(compare.type), Name(type));
  }
  const bool equality =
      compare.direction == ComparisonDirection::kEq || compare.direction == ComparisonDirection::kNe;
  if (IsComplex(type) && !equality) {
    return InvalidArgument("A compare of operands of type (%s) asks for an order.", Name(type));
  }
  return absl::OkStatus();
}

// Returns an error unless operand i has the dimensions of `merged`, or is a scalar, which applies to all
// elements.
absl::Status MergeUnlessScalar(const InferenceInput& in, size_t i, Shape& merged) {
  RETURN_IF_ERROR(ExpectArray(in, i));
  return Operand(in, i).IsScalar() ? absl::OkStatus() : MergeDimensions(in, i, merged);
}

}  // namespace

absl::StatusOr<Shape> InferUnaryFloat(const InferenceInput& in) { return Unary(in, kFloats); }
absl::StatusOr<Shape> InferUnaryFloatOrComplex(const InferenceInput& in) {
  return Unary(in, kFloats | kComplexes);
}
absl::StatusOr<Shape> InferUnaryNumber(const InferenceInput& in) {
  return Unary(in, kIntegers | kFloats | kComplexes);
}
absl::StatusOr<Shape> InferUnaryBits(const InferenceInput& in) { return Unary(in, kPreds | kIntegers); }
absl::StatusOr<Shape> InferUnaryInteger(const InferenceInput& in) { return Unary(in, kIntegers); }

absl::StatusOr<Shape> InferAbs(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, Unary(in, kIntegers | kFloats | kComplexes));
  shape.type = RealType(shape.type);
  return shape;
}

absl::StatusOr<Shape> InferComplexPart(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, Unary(in, kFloats | kComplexes));
  shape.type = RealType(shape.type);
  return shape;
}

absl::StatusOr<Shape> InferIsFinite(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, Unary(in, kFloats));
  shape.type = kPred;
  return shape;
}

absl::StatusOr<Shape> InferReducePrecision(const InferenceInput& in) {
  const auto& precision = AttributesOf<ReducePrecisionAttributes>(in);
  if (precision.exponent_bits < 1 || precision.mantissa_bits < 0) {
    return InvalidArgument(
        "The exponent bits (%d) and mantissa bits (%d) of reduce-precision form no number.",
        precision.exponent_bits, precision.mantissa_bits);
  }
  return Unary(in, kFloats);
}

absl::StatusOr<Shape> InferConvert(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  ASSIGN_OR_RETURN(Shape shape, Unary(in, kAll));
  shape.type = declared->type;
  return shape;
}

absl::StatusOr<Shape> InferStochasticConvert(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  RETURN_IF_ERROR(ExpectClass(in, 0, kFloats));
  RETURN_IF_ERROR(ExpectClass(in, 1, Bit(TypeClass::kUnsigned)));
  if (Info(Operand(in, 0).type).bits != Info(Operand(in, 1).type).bits) {
    return InvalidArgument(
        "Operand 1 shape (%s) of stochastic-convert has another width than operand 0 shape (%s).",
        Text(Operand(in, 1)), Text(Operand(in, 0)));
  }
  if (!IsFloat(declared->type) && !IsInteger(declared->type)) {
    return InvalidArgument("The stated element type (%s) of stochastic-convert is not a float or integer.",
                           Name(declared->type));
  }
  Shape shape = ArrayLike(Operand(in, 0), declared->type);
  RETURN_IF_ERROR(MergeDimensions(in, 1, shape));
  return shape;
}

absl::StatusOr<Shape> InferBinary(const InferenceInput& in) { return TwoOperands(in, kAll); }
absl::StatusOr<Shape> InferBinaryNumber(const InferenceInput& in) {
  return TwoOperands(in, kIntegers | kFloats | kComplexes);
}
absl::StatusOr<Shape> InferBinaryReal(const InferenceInput& in) {
  return TwoOperands(in, kIntegers | kFloats);
}
absl::StatusOr<Shape> InferBinaryInteger(const InferenceInput& in) { return TwoOperands(in, kIntegers); }
absl::StatusOr<Shape> InferBinaryFloatOrComplex(const InferenceInput& in) {
  return TwoOperands(in, kFloats | kComplexes);
}
absl::StatusOr<Shape> InferBinaryBits(const InferenceInput& in) {
  return TwoOperands(in, kPreds | kIntegers);
}

absl::StatusOr<Shape> InferComplex(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, TwoOperands(in, kFloats));
  const PrimitiveType complex = ComplexType(shape.type);
  if (!IsComplex(complex)) {
    return InvalidArgument("Operand 0 shape (%s) of complex has an element type without a complex one.",
                           Text(shape));
  }
  shape.type = complex;
  return shape;
}

absl::StatusOr<Shape> InferCompare(const InferenceInput& in) {
  ASSIGN_OR_RETURN(Shape shape, TwoOperands(in, kAll));
  RETURN_IF_ERROR(CheckComparison(in));
  shape.type = kPred;
  return shape;
}

absl::StatusOr<Shape> InferSelect(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectClass(in, 0, kPreds));
  RETURN_IF_ERROR(ExpectArray(in, 1));
  RETURN_IF_ERROR(ExpectArray(in, 2));
  const Shape &on_true = Operand(in, 1), &on_false = Operand(in, 2);
  Shape shape = ArrayLike(on_true, on_true.type);
  const absl::Status merged = MergeDimensions(in, 2, shape);
  if (!merged.ok() || on_true.type != on_false.type) {
    return InvalidArgument("Operand 2 shape (%s) of select differs from operand 1 shape (%s).",
                           Text(on_false), Text(on_true));
  }
  if (!MergeUnlessScalar(in, 0, shape).ok()) {
    return InvalidArgument(
        "Operand 0 shape (%s) of select is neither a scalar nor of the dimensions of operand 1 shape (%s).",
        Text(Operand(in, 0)), Text(on_true));
  }
  return shape;
}

absl::StatusOr<Shape> InferClamp(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArrays(in));
  RETURN_IF_ERROR(ExpectClass(in, 1, kPreds | kIntegers | kFloats));
  Shape shape = ArrayLike(Operand(in, 1), Operand(in, 1).type);
  for (const size_t bound : {0, 2}) {
    if (Operand(in, bound).type != shape.type || !MergeUnlessScalar(in, bound, shape).ok()) {
      return InvalidArgument("Operand %d shape (%s) of clamp is not a bound for operand 1 shape (%s).", bound,
                             Text(Operand(in, bound)), Text(Operand(in, 1)));
    }
  }
  return shape;
}

}  // namespace hlod::hlo
