// Compacts the rows of an array at its bounds.
#include "common/hlo/dynamic/dynamic_result.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"

namespace hlod::hlo {
namespace {

absl::Status CheckSizes(absl::Span<const int64_t> sizes, const Dims& bounds) {
  for (size_t d = 0; d < bounds.size(); ++d) {
    if (sizes[d] >= 0 && sizes[d] <= bounds[d]) continue;
    return InvalidArgument("Dimension %d of a result has size (%d); its bound is (%d).", d, sizes[d],
                           bounds[d]);
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> StoredByteSize(const Shape& shape) {
  const std::optional<int64_t> dense = ByteSize(shape);
  if (!dense || !shape.IsArray() || !shape.HasDynamicDimension()) return dense;
  return CheckedAdd(*dense, shape.rank() * int64_t{sizeof(int32_t)});
}

absl::StatusOr<Literal> FromStored(const Shape& shape, absl::Span<const std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) != StoredByteSize(shape)) {
    return InvalidArgument("An array %s is stored in (%d) bytes, and (%d) were given.",
                           ToStringNoLayout(shape), StoredByteSize(shape).value_or(-1), bytes.size());
  }
  const absl::Span<const std::byte> tail = bytes.last(static_cast<size_t>(shape.rank()) * sizeof(int32_t));
  Dims sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    int32_t size;
    std::memcpy(&size, tail.data() + d * int64_t{sizeof(size)}, sizeof(size));
    sizes.push_back(size);
  }
  RETURN_IF_ERROR(CheckSizes(sizes, shape.dims));
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(Shape::Array(shape.type, sizes), INT64_MAX));
  std::copy_n(bytes.begin(), literal.bytes().size(), literal.bytes().begin());
  return literal;
}

CustomCallAttributes MakeDynamicResult(const Shape& shape) {
  CustomCallAttributes attributes;
  attributes.target = std::string(kDynamicResultTarget);
  for (int64_t d = 0; d < shape.rank(); ++d) attributes.backend_config += shape.IsDynamic(d) ? '?' : '=';
  return attributes;
}

std::optional<Shape> StoredShape(Instruction instruction) {
  const auto* const call = std::get_if<CustomCallAttributes>(&instruction.attributes());
  if (call == nullptr || call->target != kDynamicResultTarget || instruction.operand_count() == 0)
    return std::nullopt;
  Shape shape = instruction.operand(0).shape();
  const std::string& dynamic = call->backend_config;
  if (!shape.IsArray() || shape.HasDynamicDimension() || dynamic.size() != shape.dims.size() ||
      instruction.operand_count() != dynamic.size() + 1 || dynamic.find('?') == std::string::npos) {
    return std::nullopt;
  }
  shape.layout.reset();
  for (const char flag : dynamic) shape.dynamic.push_back(flag == '?');
  const std::optional<int64_t> bytes = StoredByteSize(shape);
  bool fits = bytes.has_value() && Compatible(instruction.shape(), Shape::Array(kU8, {*bytes}));
  for (uint32_t i = 1; fits && i < instruction.operand_count(); ++i)
    fits = Compatible(instruction.operand(i).shape(), Shape::Scalar(kS32));
  return fits ? std::optional(std::move(shape)) : std::nullopt;
}

absl::StatusOr<Literal> ToStored(const Literal& array, absl::Span<const int64_t> sizes) {
  const Dims& bounds = array.shape().dims;
  RETURN_IF_ERROR(CheckSizes(sizes, bounds));
  const auto dense = static_cast<int64_t>(array.bytes().size());
  const int64_t rank = array.shape().rank();
  Literal stored(Shape::Array(kU8, {dense + rank * int64_t{sizeof(int32_t)}}));  // Filled with zeros.
  std::byte* to = stored.bytes().data();
  // A row spans the dimensions after the last one that is not full.
  int64_t split = rank;
  int64_t row = ByteWidth(array.shape().type);
  while (split > 0 && sizes[split - 1] == bounds[split - 1]) row *= bounds[--split];
  int64_t stride = row;
  if (split > 0) {
    --split;
    stride = row * bounds[split];
    row *= sizes[split];
  }
  Dims index(static_cast<size_t>(split), 0);
  const bool empty = std::ranges::find(sizes, 0) != sizes.end();
  while (!empty) {
    int64_t place = 0;
    for (int64_t d = 0; d < split; ++d) place = place * bounds[d] + index[d];
    std::memcpy(to, array.bytes().data() + place * stride, static_cast<size_t>(row));
    to += row;
    int64_t d = split;
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) break;
  }
  for (int64_t d = 0; d < rank; ++d) {
    const auto size = static_cast<int32_t>(sizes[d]);
    std::memcpy(stored.bytes().data() + dense + d * int64_t{sizeof(size)}, &size, sizeof(size));
  }
  return stored;
}

}  // namespace hlod::hlo
