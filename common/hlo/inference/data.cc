// Shape rules of data sources, tuples, tokens and opcodes that keep their operand's shape.
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {

absl::StatusOr<Shape> InferSameAsOperand(const InferenceInput& in) { return WithoutLayout(Operand(in, 0)); }

absl::StatusOr<Shape> InferConstant(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  return WithoutLayout(*declared);
}

absl::StatusOr<Shape> InferParameter(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  if (AttributesOf<ParameterAttributes>(in).number < 0) {
    return InvalidArgument("The number (%d) of a parameter is negative.",
                           AttributesOf<ParameterAttributes>(in).number);
  }
  return WithoutLayout(*declared);
}

absl::StatusOr<Shape> InferIota(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (dimensions.size() != 1)
    return InvalidArgument("An iota names (%d) dimensions, not one.", dimensions.size());
  RETURN_IF_ERROR(ExpectDimension(in, dimensions[0], declared->rank(), "dimension"));
  if (declared->type == kPred) return InvalidArgument("The element type (pred) of iota does not count.");
  return ArrayLike(*declared, declared->type);
}

absl::StatusOr<Shape> InferTuple(const InferenceInput& in) {
  // A tuple of tuples can double in size at each instruction, so its size is computed before it is built.
  int64_t nodes = 1;
  for (const Shape* operand : in.operands) {
    nodes += NodeCount(*operand);
    if (nodes > kMaxShapeNodes) {
      return InvalidArgument("A tuple of (%d) operands holds more shapes than the limit (%d).",
                             in.operands.size(), kMaxShapeNodes);
    }
  }
  std::vector<Shape> elements;
  elements.reserve(in.operands.size());
  for (const Shape* operand : in.operands) elements.push_back(WithoutLayout(*operand));
  return Shape::Tuple(std::move(elements));
}

absl::StatusOr<Shape> InferGetTupleElement(const InferenceInput& in) {
  const Shape& tuple = Operand(in, 0);
  const int64_t index = AttributesOf<TupleIndexAttributes>(in).index;
  if (!tuple.IsTuple()) {
    return InvalidArgument("Operand 0 shape (%s) of get-tuple-element is not a tuple.", Text(tuple));
  }
  if (index < 0 || index >= static_cast<int64_t>(tuple.tuple.size())) {
    return InvalidArgument("The index (%d) of get-tuple-element lies outside a tuple of (%d) elements.",
                           index, tuple.tuple.size());
  }
  return WithoutLayout(tuple.tuple[index]);
}

absl::StatusOr<Shape> InferScalarU32(const InferenceInput& in) { return Shape::Scalar(kU32); }

// The operands may be arrays, too: the token comes after what computes them.
absl::StatusOr<Shape> InferAfterAll(const InferenceInput&) { return Shape::Token(); }

namespace {

absl::StatusOr<int64_t> OneDimension(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (dimensions.size() != 1) {
    return InvalidArgument("The number of dimensions (%d) that %s names differs from (1).", dimensions.size(),
                           OpName(in));
  }
  RETURN_IF_ERROR(ExpectDimension(in, dimensions[0], Operand(in, 0).rank(), "dimension"));
  return dimensions[0];
}

}  // namespace

absl::StatusOr<Shape> InferGetDimensionSize(const InferenceInput& in) {
  RETURN_IF_ERROR(OneDimension(in).status());
  return Shape::Scalar(kS32);
}

absl::StatusOr<Shape> InferSetDimensionSize(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const int64_t dimension, OneDimension(in));
  RETURN_IF_ERROR(ExpectScalar(in, 1, kS32));
  Shape shape = WithoutLayout(Operand(in, 0));
  if (shape.dynamic.empty()) shape.dynamic.assign(shape.dims.size(), false);
  shape.dynamic[dimension] = true;
  return shape;
}

}  // namespace hlod::hlo
