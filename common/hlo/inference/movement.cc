// Shape rules of the opcodes that move data without computing.
#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

// Returns an error unless both shapes have the same number of elements; shapes with an unknown number pass.
absl::Status ExpectSameCount(const InferenceInput& in, const Shape& from, const Shape& to) {
  const std::optional<int64_t> have = ElementCount(from), want = ElementCount(to);
  if (!have || !want || *have == *want) return absl::OkStatus();
  return InvalidArgument(
      "The element count of the stated shape (%s) of %s differs from that of operand 0 shape (%s).", Text(to),
      OpName(in), Text(from));
}

// Returns the size in bits, or nullopt when it is unknown or overflows.
std::optional<int64_t> BitCount(const Shape& shape) {
  const std::optional<int64_t> count = ElementCount(shape);
  return count ? CheckedMultiply(*count, Info(shape.type).bits) : std::nullopt;
}

// Returns an error unless the operands from `first` on are start indices: `rank` integer scalars of one type.
absl::Status ExpectStarts(const InferenceInput& in, size_t first, int64_t rank) {
  if (in.operands.size() != first + static_cast<size_t>(rank)) {
    return InvalidArgument("The number of start indices (%d) of %s differs from the rank (%d) of operand 0.",
                           static_cast<int64_t>(in.operands.size()) - static_cast<int64_t>(first), OpName(in),
                           rank);
  }
  for (size_t i = first; i < in.operands.size(); ++i) {
    RETURN_IF_ERROR(ExpectIntegerScalar(in, i));
    if (Operand(in, i).type != Operand(in, first).type) {
      return InvalidArgument("Operand %d shape (%s) of %s differs from operand %d shape (%s).", i,
                             Text(Operand(in, i)), OpName(in), first, Text(Operand(in, first)));
    }
  }
  return absl::OkStatus();
}

// Returns an error unless 0 <= size <= the size of dimension d of operand 0.
absl::Status ExpectFits(const InferenceInput& in, int64_t d, int64_t size) {
  const int64_t whole = Operand(in, 0).dims[d];
  if (size >= 0 && (size <= whole || whole == kUnboundedSize)) return absl::OkStatus();
  return InvalidArgument("The slice size (%d) of %s in dimension %d lies outside [0, %d].", size, OpName(in),
                         d, whole);
}

}  // namespace

absl::StatusOr<Shape> InferBroadcast(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  const Shape& operand = Operand(in, 0);
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (static_cast<int64_t>(dimensions.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of dimensions (%d) of broadcast differs from the rank of operand 0 shape (%s).",
        dimensions.size(), Text(operand));
  }
  RETURN_IF_ERROR(ExpectDistinct(in, dimensions, declared->rank(), "dimensions"));
  Shape shape = ArrayLike(*declared, operand.type);
  for (int64_t i = 0; i < operand.rank(); ++i) {
    const int64_t d = dimensions[i];
    if (!SizesAgree(operand.dims[i], shape.dims[d])) {
      return InvalidArgument(
          "Dimension %d of operand 0 shape (%s) of broadcast differs in size from dimension %d of (%s).", i,
          Text(operand), d, Text(*declared));
    }
    if (operand.IsDynamic(i) != shape.IsDynamic(d)) {
      if (shape.dynamic.empty()) shape.dynamic.assign(shape.dims.size(), false);
      shape.dynamic[d] = operand.IsDynamic(i);
      shape.dims[d] = operand.dims[i];
    }
  }
  return shape;
}

absl::StatusOr<Shape> InferReshape(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  const Dims& inferred = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (inferred.size() > 1)
    return InvalidArgument("A reshape names (%d) inferred dimensions.", inferred.size());
  if (inferred.size() == 1 && inferred[0] != -1) {
    RETURN_IF_ERROR(ExpectDimension(in, inferred[0], declared->rank(), "inferred dimension"));
  }
  RETURN_IF_ERROR(ExpectSameCount(in, Operand(in, 0), *declared));
  return ArrayLike(*declared, Operand(in, 0).type);
}

absl::StatusOr<Shape> InferDynamicReshape(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A dynamic-reshape has no operands.");
  RETURN_IF_ERROR(ExpectArray(in, 0));
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  if (in.operands.size() != 1 + declared->dims.size()) {
    return InvalidArgument(
        "The number of sizes (%d) of dynamic-reshape differs from the rank of its shape (%s).",
        in.operands.size() - 1, Text(*declared));
  }
  for (size_t i = 1; i < in.operands.size(); ++i) RETURN_IF_ERROR(ExpectScalar(in, i, kS32));
  RETURN_IF_ERROR(ExpectSameCount(in, Operand(in, 0), *declared));
  return ArrayLike(*declared, Operand(in, 0).type);
}

absl::StatusOr<Shape> InferBitcast(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  if (BitCount(Operand(in, 0)) != BitCount(*declared)) {
    return InvalidArgument(
        "The size of the stated shape (%s) of bitcast differs from that of operand 0 shape (%s).",
        Text(*declared), Text(Operand(in, 0)));
  }
  return ArrayLike(*declared, declared->type);
}

absl::StatusOr<Shape> InferBitcastConvert(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  ASSIGN_OR_RETURN(const Shape* declared, DeclaredArray(in));
  const Shape& operand = Operand(in, 0);
  const int from = Info(operand.type).bits, to = Info(declared->type).bits;
  const auto broken = [&] {
    return InvalidArgument("Operand 0 shape (%s) of bitcast-convert cannot be read as element type (%s).",
                           Text(operand), Name(declared->type));
  };
  if (IsComplex(operand.type) != IsComplex(declared->type)) return broken();
  Shape shape = ArrayLike(operand, declared->type);
  if (from > to) {
    if (from % to != 0) return broken();
    AppendDimension(shape, from / to, false);
  } else if (from < to) {
    const int64_t last = operand.rank() - 1;
    if (to % from != 0 || last < 0 || operand.dims[last] != to / from || operand.IsDynamic(last))
      return broken();
    shape.dims.pop_back();
    if (!shape.dynamic.empty()) shape.dynamic.pop_back();
  }
  return shape;
}

absl::StatusOr<Shape> InferTranspose(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  const Dims& permutation = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (static_cast<int64_t>(permutation.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of dimensions (%d) of transpose differs from the rank of operand 0 shape (%s).",
        permutation.size(), Text(operand));
  }
  RETURN_IF_ERROR(ExpectDistinct(in, permutation, operand.rank(), "dimensions"));
  Shape shape;
  shape.type = operand.type;
  for (const int64_t d : permutation) AppendDimension(shape, operand, d);
  return shape;
}

absl::StatusOr<Shape> InferReverse(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  RETURN_IF_ERROR(ExpectDistinct(in, AttributesOf<DimensionsAttributes>(in).dimensions, Operand(in, 0).rank(),
                                 "dimensions"));
  return ArrayLike(Operand(in, 0), Operand(in, 0).type);
}

absl::StatusOr<Shape> InferSlice(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  const auto& slice = AttributesOf<SliceAttributes>(in);
  const auto rank = static_cast<size_t>(operand.rank());
  if (slice.start.size() != rank || slice.limit.size() != rank || slice.stride.size() != rank) {
    return InvalidArgument(
        "The starts (%d), limits (%d) and strides (%d) of slice are not one a dimension of (%s).",
        slice.start.size(), slice.limit.size(), slice.stride.size(), Text(operand));
  }
  Shape shape;
  shape.type = operand.type;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t start = slice.start[d], limit = slice.limit[d], stride = slice.stride[d],
                  size = operand.dims[d];
    if (start < 0 || limit < start || (limit > size && size != kUnboundedSize) || stride < 1) {
      return InvalidArgument("The slice [%d:%d:%d] in dimension %d does not lie in operand 0 shape (%s).",
                             start, limit, stride, d, Text(operand));
    }
    const int64_t length = limit - start;
    // The run-time size of a dynamic dimension may be less than the limit, so the dimension of the slice is
    // dynamic too.
    AppendDimension(shape, length == 0 ? 0 : (length - 1) / stride + 1,
                    operand.IsDynamic(static_cast<int64_t>(d)) && size != kUnboundedSize);
  }
  return shape;
}

absl::StatusOr<Shape> InferDynamicSlice(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A dynamic-slice has no operands.");
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  RETURN_IF_ERROR(ExpectStarts(in, 1, operand.rank()));
  const Dims& sizes = AttributesOf<DynamicSliceAttributes>(in).sizes;
  if (static_cast<int64_t>(sizes.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of slice sizes (%d) of dynamic-slice differs from the rank of operand 0 shape (%s).",
        sizes.size(), Text(operand));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) RETURN_IF_ERROR(ExpectFits(in, d, sizes[d]));
  return Shape::Array(operand.type, sizes);
}

absl::StatusOr<Shape> InferDynamicUpdateSlice(const InferenceInput& in) {
  if (in.operands.size() < 2) {
    return InvalidArgument("The number of operands (%d) of dynamic-update-slice is less than (2).",
                           in.operands.size());
  }
  RETURN_IF_ERROR(ExpectArray(in, 0));
  RETURN_IF_ERROR(ExpectArray(in, 1));
  RETURN_IF_ERROR(ExpectTypeOfFirst(in, 1));
  const Shape &operand = Operand(in, 0), &update = Operand(in, 1);
  if (update.rank() != operand.rank()) {
    return InvalidArgument(
        "Operand 1 shape (%s) of dynamic-update-slice differs in rank from operand 0 shape (%s).",
        Text(update), Text(operand));
  }
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (update.dims[d] != kUnboundedSize) RETURN_IF_ERROR(ExpectFits(in, d, update.dims[d]));
  }
  RETURN_IF_ERROR(ExpectStarts(in, 2, operand.rank()));
  return ArrayLike(operand, operand.type);
}

absl::StatusOr<Shape> InferPad(const InferenceInput& in) {
  RETURN_IF_ERROR(ExpectArray(in, 0));
  const Shape& operand = Operand(in, 0);
  RETURN_IF_ERROR(ExpectScalar(in, 1, operand.type));
  const auto& padding = AttributesOf<PadAttributes>(in).dimensions;
  if (static_cast<int64_t>(padding.size()) != operand.rank()) {
    return InvalidArgument(
        "The number of paddings (%d) of pad differs from the rank of operand 0 shape (%s).", padding.size(),
        Text(operand));
  }
  Shape shape;
  shape.type = operand.type;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const PadDimension& pad = padding[d];
    if (pad.interior < 0) {
      return InvalidArgument("The interior padding (%d) of pad in dimension %d is negative.", pad.interior,
                             d);
    }
    RETURN_IF_ERROR(ExpectExtent(in, d, pad.interior, "interior padding"));
    RETURN_IF_ERROR(ExpectExtent(in, d, pad.low, "low padding"));
    RETURN_IF_ERROR(ExpectExtent(in, d, pad.high, "high padding"));
    if (operand.dims[d] == kUnboundedSize) {
      AppendDimension(shape, operand, d);
      continue;
    }
    const __int128 between =
        operand.dims[d] < 1 ? 0 : static_cast<__int128>(operand.dims[d] - 1) * pad.interior;
    const __int128 size = between + operand.dims[d] + pad.low + pad.high;
    // The extent before negative padding crops it is also bounded, because element positions are counted in
    // it.
    if (size < 0 || size > kExtentMax || between + operand.dims[d] > kExtentMax) {
      return InvalidArgument(
          "The padding %d_%d_%d of pad in dimension %d of (%s) gives a size outside [0, %d].", pad.low,
          pad.high, pad.interior, d, Text(operand), kExtentMax);
    }
    AppendDimension(shape, static_cast<int64_t>(size), operand.IsDynamic(d));
  }
  return shape;
}

absl::StatusOr<Shape> InferConcatenate(const InferenceInput& in) {
  if (in.operands.empty()) return InvalidArgument("A concatenate has no operands.");
  RETURN_IF_ERROR(ExpectArrays(in));
  const Dims& dimensions = AttributesOf<DimensionsAttributes>(in).dimensions;
  if (dimensions.size() != 1) {
    return InvalidArgument("The number of dimensions (%d) that concatenate names differs from (1).",
                           dimensions.size());
  }
  const Shape& first = Operand(in, 0);
  const int64_t along = dimensions[0];
  RETURN_IF_ERROR(ExpectDimension(in, along, first.rank(), "dimension"));
  Dims sizes = first.dims;
  absl::InlinedVector<bool, 6> dynamic(sizes.size());
  for (int64_t d = 0; d < first.rank(); ++d) dynamic[d] = first.IsDynamic(d);
  for (size_t i = 1; i < in.operands.size(); ++i) {
    RETURN_IF_ERROR(ExpectTypeOfFirst(in, i));
    const Shape& operand = Operand(in, i);
    bool agree = operand.rank() == first.rank();
    for (int64_t d = 0; agree && d < first.rank(); ++d) {
      const int64_t size = operand.dims[d];
      dynamic[d] |= operand.IsDynamic(d);
      if (d != along) {
        agree = SizesAgree(sizes[d], size);
        if (sizes[d] == kUnboundedSize) {
          sizes[d] = size;
          dynamic[d] = operand.IsDynamic(d);
        }
      } else if (sizes[d] == kUnboundedSize || size == kUnboundedSize) {
        sizes[d] = kUnboundedSize;
      } else if (const std::optional<int64_t> sum = CheckedAdd(sizes[d], size)) {
        sizes[d] = *sum;
      } else {
        return InvalidArgument("The size of concatenate in dimension %d overflows 64 bits.", d);
      }
    }
    if (!agree) {
      return InvalidArgument(
          "Operand %d shape (%s) of concatenate differs from operand 0 shape (%s) outside dimension %d.", i,
          Text(operand), Text(first), along);
    }
  }
  Shape shape;
  shape.type = first.type;
  for (size_t d = 0; d < sizes.size(); ++d) AppendDimension(shape, sizes[d], dynamic[d]);
  return shape;
}

}  // namespace hlod::hlo
