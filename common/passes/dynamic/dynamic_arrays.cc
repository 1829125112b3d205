// Masks, moves and checks arrays at their bounds.
#include "common/passes/dynamic/dynamic_arrays.h"

#include <cmath>
#include <utility>

#include "common/evaluator/custom_calls.h"

namespace hlod::passes {

using namespace hlo;  // The passes are functions over the IR.

namespace {

Op CheckCall(Builder& b, Op size, Op other, CustomCallAttributes check) {
  const Shape declared = Shape::Scalar(kS32);
  return b.Add(kCustomCall, {size, other}, std::move(check), {}, &declared);
}

}  // namespace

Op DynamicArrays::CheckedSize(Op size, Op present, std::string_view name, int64_t bound) {
  return CheckCall(b_, size, present, MakeSizeCheck(kCheckDimensionSizeTarget, name, bound));
}

Op DynamicArrays::SameSize(Op size, Op other, std::string_view name, int64_t dimension) {
  if (size.id == other.id) return size;
  return CheckCall(b_, size, other, MakeSizeCheck(kCheckSameSizeTarget, name, dimension));
}

std::optional<Op> DynamicArrays::Common(const std::optional<Op>& size, const std::optional<Op>& other,
                                        std::string_view name, int64_t dimension) {
  if (size && other) return SameSize(*size, *other, name, dimension);
  return size ? size : other;
}

Op DynamicArrays::Below(const Dims& dims, int64_t d, Op size) {
  return b_.Compare(b_.Iota(Shape::Array(kS32, dims), d), size, ComparisonDirection::kLt);
}

Op DynamicArrays::Masked(const DynamicArray& array, absl::Span<const int64_t> dimensions, Op value) {
  std::optional<Op> there;
  for (const int64_t d : dimensions) {
    if (!array.sizes[d]) continue;
    const Op below = Below(Bounds(array), d, *array.sizes[d]);
    there = there ? b_.Binary(kAnd, *there, below) : below;
  }
  return there ? b_.Select(*there, array.data, value) : array.data;
}

Op DynamicArrays::Masked(const DynamicArray& array, Op value) {
  Dims all;
  for (size_t d = 0; d < array.sizes.size(); ++d) all.push_back(static_cast<int64_t>(d));
  return Masked(array, all, value);
}

std::optional<Op> DynamicArrays::Neutral(Opcode opcode, PrimitiveType type) {
  const auto constant = [&](double value) -> std::optional<Op> {
    absl::StatusOr<Literal> literal = Convert(Literal::Scalar(value), type);
    if (!literal.ok()) return std::nullopt;
    return b_.Constant(*std::move(literal));
  };
  const bool pred = type == kPred;
  const bool extremes =
      pred || IsInteger(type) || type == kF32 || type == kF64 || type == kF16 || type == kBF16;
  switch (opcode) {
    case kAdd:
    case kOr:
    case kXor: return Zero(type);
    case kMultiply: return constant(1);
    case kAnd: return b_.Unary(kNot, Zero(type));
    case kMaximum: return extremes ? constant(pred ? 0 : -INFINITY) : std::nullopt;
    case kMinimum: return extremes ? constant(INFINITY) : std::nullopt;
    default: return std::nullopt;
  }
}

Op DynamicArrays::Take(Op data, int64_t dimension, Op indices) {
  const Shape& shape = b_.shape(data);
  GatherAttributes gather;
  gather.slice_sizes = shape.dims;
  gather.slice_sizes[dimension] = 1;
  gather.collapsed_slice_dims = {dimension};
  gather.start_index_map = {dimension};
  gather.index_vector_dim = 1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d != dimension) gather.offset_dims.push_back(d);
  }
  return b_.Add(kGather, {data, indices}, std::move(gather));
}

Op DynamicArrays::Product(const std::vector<Op>& sizes) {
  Op product = Number(1);
  for (const Op size : sizes) product = product * size;
  return product;
}

Op DynamicArrays::PlacesOfReshaped(const Dims& from, const std::vector<Op>& from_sizes, const Dims& to,
                                   const std::vector<Op>& to_sizes) {
  int64_t count = 1;
  for (const int64_t size : to) count *= size;
  const Op place = b_.Iota(Shape::Array(kS32, {count}), 0);
  // The rank of the element among the existing elements, in row-major order.
  const Dims to_strides = RowMajorStrides(to), from_strides = RowMajorStrides(from);
  Op number = b_.Broadcast(Number(0), {count}, {});
  for (size_t d = 0; d < to.size(); ++d) {
    const Op index = b_.Binary(kRemainder, b_.Binary(kDivide, place, Number(to_strides[d])), Number(to[d]));
    number = number * to_sizes[d] + index;
  }
  // The position of the element with that rank in the other array.
  Op source = b_.Broadcast(Number(0), {count}, {});
  for (size_t d = from.size(); d-- > 0;) {
    const Op size = b_.Binary(kMaximum, from_sizes[d], Number(1));
    source = source + b_.Binary(kRemainder, number, size) * Number(from_strides[d]);
    number = b_.Binary(kDivide, number, size);
  }
  return source;
}

}  // namespace hlod::passes
