// Shape rules of reductions, windows, sorts, map and batch normalisation.
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// Checks n inputs of equal dimensions followed by n scalar inits of their types. Returns the types, and the
// dimensions in `merged`.
absl::StatusOr<std::vector<PrimitiveType>> InputsAndInits(const InferenceInput& in, Shape& merged) {
  if (in.operands.empty() || in.operands.size() % 2 != 0) {
    return InvalidArgument("The number of operands (%d) of %s is not even.", in.operands.size(), OpName(in));
  }
  const size_t n = in.operands.size() / 2;
  RETURN_IF_ERROR(ExpectArray(in, 0));
  merged = ArrayLike(Operand(in, 0), Operand(in, 0).type);
  std::vector<PrimitiveType> types;
  for (size_t i = 0; i < n; ++i) {
    RETURN_IF_ERROR(MergeDimensions(in, i, merged));
    RETURN_IF_ERROR(ExpectScalar(in, n + i, Operand(in, i).type));
    types.push_back(Operand(in, i).type);
  }
  return types;
}

// Returns an array with the dimensions of `shape`, or for several types a tuple of such arrays, one per type.
Shape OneForEach(const Shape& shape, absl::Span<const PrimitiveType> types) {
  if (types.size() == 1) return ArrayLike(shape, types[0]);
  std::vector<Shape> elements;
  for (const PrimitiveType type : types) elements.push_back(ArrayLike(shape, type));
  return Shape::Tuple(std::move(elements));
}

// Returns the dimensions that result from sliding the window over `operand`.
absl::StatusOr<Shape> Windowed(const InferenceInput& in, const Shape& operand) {
  const Window& window = AttributesOf<WindowAttributes>(in).window;
  if (static_cast<int64_t>(window.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of window dimensions (%d) of %s differs from the rank of operand 0 shape (%s).",
        window.size(), OpName(in), Text(operand));
  }
  Shape shape;
  shape.type = operand.type;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    ASSIGN_OR_RETURN(const int64_t size, WindowedDimension(in, d, operand.dims[d], window[d]));
    AppendDimension(shape, size, operand.IsDynamic(d));
  }
  return shape;
}

// Checks that the operands from 1 on have one value per feature, and returns the shape f[C], where C is the
// size of the feature dimension.
absl::StatusOr<Shape> PerFeature(const InferenceInput& in, size_t first, size_t last) {
  RETURN_IF_ERROR(ExpectArrays(in));
  const Shape& operand = Operand(in, 0);
  if (!IsFloat(operand.type)) {
    return InvalidArgument("Operand 0 shape (%s) of %s is not of floats.", Text(operand), OpName(in));
  }
  const int64_t feature = AttributesOf<BatchNormAttributes>(in).feature_index;
  RETURN_IF_ERROR(ExpectDimension(in, feature, operand.rank(), "feature_index"));
  Shape per_feature;
  per_feature.type = operand.type;
  AppendDimension(per_feature, operand, feature);
  for (size_t i = first; i <= last; ++i) {
    const Shape& given = Operand(in, i);
    if (given.type != operand.type || given.rank() != 1 || !SizesAgree(given.dims[0], per_feature.dims[0])) {
      return InvalidArgument("Operand %d shape (%s) of %s is not one value a feature (%s).", i, Text(given),
                             OpName(in), Text(per_feature));
    }
  }
  return per_feature;
}

}  // namespace

absl::StatusOr<Shape> InferReduce(const InferenceInput& in) {
  Shape whole;
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, InputsAndInits(in, whole));
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  RETURN_IF_ERROR(ExpectDistinct(in, dimensions, whole.rank(), "dimensions"));
  RETURN_IF_ERROR(ExpectReducer(in, 0, types));
  DimensionSet reduced;
  for (const int64_t d : dimensions) reduced.Add(d, whole.rank());
  Shape kept;
  for (int64_t d = 0; d < whole.rank(); ++d) {
    if (!reduced.Has(d)) AppendDimension(kept, whole, d);
  }
  return OneForEach(kept, types);
}

absl::StatusOr<Shape> InferReduceWindow(const InferenceInput& in) {
  Shape whole;
  ASSIGN_OR_RETURN(const std::vector<PrimitiveType> types, InputsAndInits(in, whole));
  ASSIGN_OR_RETURN(const Shape windowed, Windowed(in, whole));
  RETURN_IF_ERROR(ExpectReducer(in, 0, types));
  return OneForEach(windowed, types);
}

absl::StatusOr<Shape> InferSelectAndScatter(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArrays(in));
  const Shape &operand = Operand(in, 0), &source = Operand(in, 1);
  RETURN_IF_ERROR(ExpectScalar(in, 2, operand.type));
  ASSIGN_OR_RETURN(const Shape windowed, Windowed(in, operand));
  if (source.type != operand.type || source.dims != windowed.dims) {
    return InvalidArgument(
        "Operand 1 shape (%s) of select-and-scatter differs from the windowed operand 0 (%s).", Text(source),
        Text(windowed));
  }
  const Shape scalar = Shape::Scalar(operand.type), pred = Shape::Scalar(kPred);
  RETURN_IF_ERROR(ExpectSignature(in, 0, {scalar, scalar}, &pred));
  RETURN_IF_ERROR(ExpectSignature(in, 1, {scalar, scalar}, &scalar));
  return ArrayLike(operand, operand.type);
}

absl::StatusOr<Shape> InferSort(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A sort has no operands.");
  RETURN_IF_ERROR(ExpectArray(in, 0));
  Shape merged = ArrayLike(Operand(in, 0), Operand(in, 0).type);
  std::vector<PrimitiveType> types;
  std::vector<Shape> scalars;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    RETURN_IF_ERROR(MergeDimensions(in, i, merged));
    types.push_back(Operand(in, i).type);
    scalars.insert(scalars.end(), 2, Shape::Scalar(types.back()));
  }
  RETURN_IF_ERROR(
      ExpectDimension(in, AttributesOf<SortAttributes>(in).dimension, merged.rank(), "dimension"));
  const Shape pred = Shape::Scalar(kPred);
  RETURN_IF_ERROR(ExpectSignature(in, 0, scalars, &pred));
  return OneForEach(merged, types);
}

absl::StatusOr<Shape> InferTopK(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  const int64_t k = AttributesOf<TopKAttributes>(in).k, last = operand.rank() - 1;
  if (last < 0 || IsComplex(operand.type)) {
    return InvalidArgument("Operand 0 shape (%s) of topk has no last dimension in an order.", Text(operand));
  }
  if (k < 0 || (k > operand.dims[last] && operand.dims[last] != kUnboundedSize)) {
    return InvalidArgument("The number k (%d) of topk lies outside [0, %d].", k, operand.dims[last]);
  }
  Shape values;
  values.type = operand.type;
  for (int64_t d = 0; d < last; ++d) AppendDimension(values, operand, d);
  AppendDimension(values, k, false);
  Shape indices = ArrayLike(values, kS32);
  return Shape::Tuple({std::move(values), std::move(indices)});
}

absl::StatusOr<Shape> InferMap(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A map has no operands.");
  RETURN_IF_ERROR(ExpectArray(in, 0));
  Shape merged = ArrayLike(Operand(in, 0), Operand(in, 0).type);
  std::vector<Shape> scalars;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    RETURN_IF_ERROR(MergeDimensions(in, i, merged));
    scalars.push_back(Shape::Scalar(Operand(in, i).type));
  }
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  bool all = static_cast<int64_t>(dimensions.size()) == merged.rank();
  for (size_t d = 0; all && d < dimensions.size(); ++d) all = dimensions[d] == static_cast<int64_t>(d);
  if (!all)
    return InvalidArgument("The dimensions of map are not all those of operand 0 shape (%s) in order.",
                           Text(merged));
  RETURN_IF_ERROR(ExpectSignature(in, 0, scalars, nullptr));
  const Shape& result = in.called[0]->result;
  if (!result.IsScalar())
    return InvalidArgument("The result shape (%s) of the map's computation is not a scalar.", Text(result));
  merged.type = result.type;
  return merged;
}

// The computation's parameters are the inputs without the scanned dimension, and the carries. It returns
// outputs, which are stacked along that dimension, and carries.
absl::StatusOr<Shape> InferScan(const InferenceInput& in) {
  const ScanAttributes& scan = AttributesOf<ScanAttributes>(in);
  const auto operands = static_cast<int64_t>(in.operands.size());
  if (scan.num_carries < 1 || scan.num_carries >= operands) {
    return InvalidArgument(
        "The num_carries (%d) of scan and its inputs are not (%d) operands, at least one of each.",
        scan.num_carries, operands);
  }
  const auto inputs = static_cast<size_t>(operands - scan.num_carries);
  std::vector<Shape> parameters;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    RETURN_IF_ERROR(ExpectArray(in, i));
    Shape shape = WithoutLayout(Operand(in, i));
    if (i < inputs) {
      RETURN_IF_ERROR(ExpectDimension(in, scan.dimension, shape.rank(), "dimension"));
      if (shape.dims[scan.dimension] != Operand(in, 0).dims[scan.dimension] ||
          shape.IsDynamic(scan.dimension)) {
        return InvalidArgument("Operand %d shape (%s) of scan has another length than operand 0 shape (%s).",
                               i, Text(shape), Text(Operand(in, 0)));
      }
      shape.dims.erase(shape.dims.begin() + scan.dimension);
      if (!shape.dynamic.empty()) shape.dynamic.erase(shape.dynamic.begin() + scan.dimension);
    }
    parameters.push_back(std::move(shape));
  }
  RETURN_IF_ERROR(ExpectSignature(in, 0, parameters, nullptr));
  const Shape& result = in.called[0]->result;
  std::vector<Shape> results = result.IsTuple() ? result.tuple : std::vector<Shape>{result};
  const auto outputs = static_cast<int64_t>(results.size()) - scan.num_carries;
  if (outputs < 0) {
    return InvalidArgument("The result shape (%s) of the computation of scan has fewer than (%d) carries.",
                           Text(result), scan.num_carries);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].IsArray()) {
      return InvalidArgument("Result %d shape (%s) of the computation of scan is not an array.", i,
                             Text(results[i]));
    }
    results[i] = WithoutLayout(results[i]);
    if (static_cast<int64_t>(i) < outputs) {
      if (scan.dimension > results[i].rank()) {
        return InvalidArgument("Result %d shape (%s) of scan cannot be stacked along dimension (%d).", i,
                               Text(results[i]), scan.dimension);
      }
      const int64_t length = Operand(in, 0).dims[scan.dimension];
      results[i].dims.insert(results[i].dims.begin() + scan.dimension, length);
      if (!results[i].dynamic.empty())
        results[i].dynamic.insert(results[i].dynamic.begin() + scan.dimension, false);
      continue;
    }
    const Shape& carry = parameters[inputs + i - static_cast<size_t>(outputs)];
    if (!Compatible(results[i], carry)) {
      return InvalidArgument("Carry %d of scan comes in as (%s) and out as (%s).",
                             static_cast<int64_t>(i) - outputs, Text(carry), Text(results[i]));
    }
  }
  return result.IsTuple() ? Shape::Tuple(std::move(results)) : results[0];
}

absl::StatusOr<Shape> InferBatchNormTraining(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape per_feature, PerFeature(in, 1, 2));
  return Shape::Tuple({WithoutLayout(Operand(in, 0)), per_feature, per_feature});
}

absl::StatusOr<Shape> InferBatchNormInference(const InferenceInput& in) {
  RETURN_IF_ERROR(PerFeature(in, 1, 4).status());
  return WithoutLayout(Operand(in, 0));
}

absl::StatusOr<Shape> InferBatchNormGrad(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape per_feature, PerFeature(in, 1, 3));
  RETURN_IF_ERROR(ExpectTypeOfFirst(in, 4));
  Shape shape = WithoutLayout(Operand(in, 0));
  RETURN_IF_ERROR(MergeDimensions(in, 4, shape));
  return Shape::Tuple({std::move(shape), per_feature, per_feature});
}

}  // namespace hlod::hlo
