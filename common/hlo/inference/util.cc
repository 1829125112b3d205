// Helpers of the rules of shape inference: checks of operands, dimension numbers, signatures and windows.
#include <algorithm>

#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

using Wide128 = __int128;  // Holds any product of two int64 and a sum of a few.

// Returns the size of n elements with (dilation - 1) holes between neighbours.
Wide128 Dilated(int64_t n, int64_t dilation) { return n <= 0 ? Wide128{0} : (Wide128{n} - 1) * dilation + 1; }

// Clamps a size to 64 bits, for a comparison and a message.
int64_t Extent(Wide128 size) { return static_cast<int64_t>(std::clamp<Wide128>(size, INT64_MIN, INT64_MAX)); }

}  // namespace

std::string Text(const Shape& shape) {
  constexpr size_t kLongest = 400;
  std::string text = ToStringNoLayout(shape);
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

Shape WithoutLayout(const Shape& shape) {
  if (shape.IsArray()) return ArrayLike(shape, shape.type);
  Shape plain;
  plain.type = shape.type;
  plain.tuple.reserve(shape.tuple.size());
  for (const Shape& element : shape.tuple) plain.tuple.push_back(WithoutLayout(element));
  return plain;
}

Shape ArrayLike(const Shape& dims_of, PrimitiveType type) {
  Shape shape;
  shape.type = type;
  shape.dims = dims_of.dims;
  shape.dynamic = dims_of.dynamic;
  return shape;
}

void AppendDimension(Shape& shape, int64_t size, bool dynamic) {
  if (dynamic && shape.dynamic.empty()) shape.dynamic.assign(shape.dims.size(), false);
  shape.dims.push_back(size);
  if (dynamic || !shape.dynamic.empty()) shape.dynamic.push_back(dynamic);
}

absl::Status ExpectArray(const InferenceInput& in, size_t i) {
  if (Operand(in, i).IsArray()) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s is not an array.", i, Text(Operand(in, i)), OpName(in));
}

absl::Status ExpectArrays(const InferenceInput& in) {
  for (size_t i = 0; i < in.operands.size(); ++i) RETURN_IF_ERROR(ExpectArray(in, i));
  return absl::OkStatus();
}

absl::Status ExpectScalar(const InferenceInput& in, size_t i, PrimitiveType type) {
  const Shape& operand = Operand(in, i);
  if (operand.IsScalar() && operand.type == type) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s is not a scalar (%s[]).", i, Text(operand), OpName(in),
                         Name(type));
}

absl::Status ExpectIntegerScalar(const InferenceInput& in, size_t i) {
  const Shape& operand = Operand(in, i);
  if (operand.IsScalar() && IsInteger(operand.type)) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s is not an integer scalar.", i, Text(operand),
                         OpName(in));
}

absl::Status ExpectTypeOfFirst(const InferenceInput& in, size_t i) {
  if (Operand(in, i).type == Operand(in, 0).type) return absl::OkStatus();
  return InvalidArgument("Operand %d shape (%s) of %s differs in element type from operand 0 shape (%s).", i,
                         Text(Operand(in, i)), OpName(in), Text(Operand(in, 0)));
}

absl::Status MergeDimensions(const InferenceInput& in, size_t i, Shape& merged) {
  RETURN_IF_ERROR(ExpectArray(in, i));
  const Shape& operand = Operand(in, i);
  if (operand.dynamic.empty() && merged.dynamic.empty() && operand.dims == merged.dims)
    return absl::OkStatus();
  bool agree = operand.rank() == merged.rank();
  for (int64_t d = 0; agree && d < merged.rank(); ++d) agree = SizesAgree(merged.dims[d], operand.dims[d]);
  if (!agree) {
    return InvalidArgument("Operand %d shape (%s) of %s differs from operand 0 shape (%s).", i, Text(operand),
                           OpName(in), Text(Operand(in, 0)));
  }
  // A known size or bound is better than an unknown one; a dimension is dynamic when it is so in either
  // shape.
  Shape result;
  result.type = merged.type;
  for (int64_t d = 0; d < merged.rank(); ++d) {
    if (merged.dims[d] == operand.dims[d]) {
      AppendDimension(result, merged.dims[d], merged.IsDynamic(d) || operand.IsDynamic(d));
    } else {
      AppendDimension(result, merged.dims[d] == kUnboundedSize ? operand : merged, d);
    }
  }
  merged = std::move(result);
  return absl::OkStatus();
}

absl::StatusOr<const Shape*> Declared(const InferenceInput& in) {
  if (in.declared != nullptr) return in.declared;
  return InvalidArgument("The shape of %s is not stated and does not follow from its operands.", OpName(in));
}

absl::StatusOr<const Shape*> DeclaredArray(const InferenceInput& in) {
  ASSIGN_OR_RETURN(const Shape* declared, Declared(in));
  if (declared->IsArray() && declared->rank() <= kMaxRank) return declared;
  return InvalidArgument("The stated shape (%s) of %s is not an array of rank at most (%d).", Text(*declared),
                         OpName(in), kMaxRank);
}

absl::Status ExpectDimension(const InferenceInput& in, int64_t dimension, int64_t rank,
                             std::string_view what) {
  if (dimension >= 0 && dimension < rank) return absl::OkStatus();
  return InvalidArgument("The %s (%d) of %s lies outside [0, %d).", what, dimension, OpName(in), rank);
}

absl::Status ExpectDistinct(const InferenceInput& in, absl::Span<const int64_t> dimensions, int64_t rank,
                            std::string_view what, bool sorted) {
  DimensionSet seen;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    RETURN_IF_ERROR(ExpectDimension(in, dimensions[i], rank, what));
    if (!seen.Add(dimensions[i], rank)) {
      return InvalidArgument("The %s of %s name dimension (%d) twice.", what, OpName(in), dimensions[i]);
    }
    if (sorted && i > 0 && dimensions[i] < dimensions[i - 1]) {
      return InvalidArgument("The %s of %s do not ascend: (%d) follows (%d).", what, OpName(in),
                             dimensions[i], dimensions[i - 1]);
    }
  }
  return absl::OkStatus();
}

absl::Status ExpectSignature(const InferenceInput& in, size_t c, absl::Span<const Shape> parameters,
                             const Shape* result) {
  const ProgramShape& callee = *in.called[c];
  if (callee.parameters.size() != parameters.size()) {
    return InvalidArgument("Computation %d called by %s takes (%d) parameters; (%d) are given.", c,
                           OpName(in), callee.parameters.size(), parameters.size());
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!Compatible(callee.parameters[i], parameters[i])) {
      return InvalidArgument("Parameter %d shape (%s) of computation %d called by %s differs from (%s).", i,
                             Text(callee.parameters[i]), c, OpName(in), Text(parameters[i]));
    }
  }
  if (result != nullptr && !Compatible(callee.result, *result)) {
    return InvalidArgument("The result shape (%s) of computation %d called by %s differs from (%s).",
                           Text(callee.result), c, OpName(in), Text(*result));
  }
  return absl::OkStatus();
}

absl::Status ExpectReducer(const InferenceInput& in, size_t c, absl::Span<const PrimitiveType> types) {
  std::vector<Shape> scalars;
  scalars.reserve(2 * types.size());
  for (const PrimitiveType type : types) scalars.push_back(Shape::Scalar(type));
  const Shape result = types.size() == 1 ? scalars[0] : Shape::Tuple(scalars);
  scalars.insert(scalars.end(), scalars.begin(), scalars.begin() + static_cast<ptrdiff_t>(types.size()));
  return ExpectSignature(in, c, scalars, &result);
}

absl::Status ExpectExtent(const InferenceInput& in, int64_t dimension, int64_t value, std::string_view what) {
  if (value >= -kExtentMax && value <= kExtentMax) return absl::OkStatus();
  return InvalidArgument("The %s (%d) of %s in dimension %d exceeds the limit (%d).", what, value, OpName(in),
                         dimension, kExtentMax);
}

int64_t WindowedSize(int64_t size, const WindowDimension& window) {
  if (size == kUnboundedSize) return kUnboundedSize;
  if (window.stride <= 0) return 0;
  const Wide128 padded = Dilated(size, window.base_dilation) + window.padding_low + window.padding_high;
  const Wide128 reach = Dilated(window.size, window.window_dilation);
  if (padded < reach || padded <= 0) return 0;
  const Wide128 count = (padded - reach) / window.stride + 1;
  return count > INT64_MAX ? INT64_MAX : static_cast<int64_t>(count);
}

absl::StatusOr<int64_t> WindowedDimension(const InferenceInput& in, int64_t dimension, int64_t size,
                                          const WindowDimension& window) {
  const auto positive = [&](int64_t value, std::string_view what) {
    if (value >= 1) return absl::OkStatus();
    return InvalidArgument("The window %s (%d) of %s in dimension %d is not positive.", what, value,
                           OpName(in), dimension);
  };
  RETURN_IF_ERROR(positive(window.size, "size"));
  RETURN_IF_ERROR(positive(window.stride, "stride"));
  RETURN_IF_ERROR(positive(window.window_dilation, "dilation"));
  RETURN_IF_ERROR(positive(window.base_dilation, "base dilation"));
  const auto bounded = [&](int64_t value, std::string_view what) {
    return ExpectExtent(in, dimension, value, what);
  };
  RETURN_IF_ERROR(bounded(window.stride, "window stride"));
  RETURN_IF_ERROR(bounded(window.window_dilation, "window dilation"));
  RETURN_IF_ERROR(bounded(window.base_dilation, "window base dilation"));
  RETURN_IF_ERROR(bounded(window.padding_low, "low padding"));
  RETURN_IF_ERROR(bounded(window.padding_high, "high padding"));
  RETURN_IF_ERROR(bounded(Extent(Dilated(window.size, window.window_dilation)), "dilated window size"));
  if (size == kUnboundedSize) return kUnboundedSize;
  const Wide128 dilated = Dilated(size, window.base_dilation);
  RETURN_IF_ERROR(bounded(Extent(dilated), "dilated size"));
  RETURN_IF_ERROR(bounded(Extent(dilated + window.padding_low + window.padding_high), "padded size"));
  return WindowedSize(size, window);
}

absl::StatusOr<PrimitiveType> ContractionType(const InferenceInput& in) {
  const PrimitiveType lhs = Operand(in, 0).type, rhs = Operand(in, 1).type;
  const auto kind = [](PrimitiveType type) {
    return type == kPred ? 0 : IsInteger(type) ? 1 : IsFloat(type) ? 2 : 3;
  };
  if (in.declared == nullptr) {
    if (kind(lhs) != kind(rhs)) return kind(lhs) > kind(rhs) ? lhs : rhs;
    return Info(lhs).bits >= Info(rhs).bits ? lhs : rhs;
  }
  // Sums are computed in the widest of the three types and then converted, so any stated type is valid.
  const PrimitiveType declared = in.declared->type;
  if (IsArrayType(declared)) return declared;
  return InvalidArgument("The stated element type (%s) of %s is not that of an array.", Name(declared),
                         OpName(in));
}

}  // namespace hlod::hlo
