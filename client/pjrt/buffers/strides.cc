// Strides, and the copy from one order of elements to another.
#include "client/pjrt/buffers/strides.h"

#include <algorithm>
#include <cstring>

#include "common/base/errors/status.h"
#include "common/hlo/primitive_type.h"

namespace hlod::pjrt {
namespace {

int64_t ElementBytes(const hlo::Shape& shape) { return hlo::ByteWidth(shape.type); }

// Returns the stride of the dimension before one of `size`. It overflows only for an empty array, which has
// no use for it.
int64_t StrideBefore(int64_t stride, int64_t size) {
  int64_t before;
  return __builtin_mul_overflow(stride, size, &before) ? 0 : before;
}

// Copies the elements of the dimensions from `dimension` on.
void CopyFrom(size_t dimension, std::byte* to, const Strides& to_strides, const std::byte* from,
              const Strides& from_strides, const hlo::Shape& shape, int64_t element) {
  if (dimension == shape.dims.size()) {
    std::memcpy(to, from, static_cast<size_t>(element));
    return;
  }
  const int64_t size = shape.dims[dimension];
  const int64_t to_stride = to_strides[dimension], from_stride = from_strides[dimension];
  if (dimension + 1 == shape.dims.size() && to_stride == element && from_stride == element) {
    std::memcpy(to, from, static_cast<size_t>(size * element));
    return;
  }
  for (int64_t i = 0; i < size; ++i)
    CopyFrom(dimension + 1, to + i * to_stride, to_strides, from + i * from_stride, from_strides, shape,
             element);
}

}  // namespace

Strides RowMajorStrides(const hlo::Shape& shape) {
  Strides strides(shape.dims.size());
  int64_t stride = ElementBytes(shape);
  for (size_t i = strides.size(); i-- > 0; stride = StrideBefore(stride, shape.dims[i])) strides[i] = stride;
  return strides;
}

absl::StatusOr<Strides> StridesOf(const abi::Buffer_MemoryLayout& layout, const hlo::Shape& shape) {
  const size_t rank = shape.dims.size();
  if (layout.type == abi::LayoutType::kStrides) {
    const abi::Buffer_MemoryLayout_Strides& strides = layout.strides;
    if (strides.num_byte_strides != rank)
      return InvalidArgument("A layout has %d strides for %d dimensions.", strides.num_byte_strides, rank);
    if (rank > 0 && strides.byte_strides == nullptr)
      return InvalidArgument("The field byte_strides is null.");
    return Strides(strides.byte_strides, strides.byte_strides + rank);
  }
  const abi::Buffer_MemoryLayout_Tiled& tiled = layout.tiled;
  if (tiled.num_tiles > 0) return Unimplemented("Tiled layouts are not supported.");
  if (tiled.minor_to_major_size != rank) {
    return InvalidArgument("A layout orders %d dimensions of an array that has %d.",
                           tiled.minor_to_major_size, rank);
  }
  if (rank > 0 && tiled.minor_to_major == nullptr)
    return InvalidArgument("The field minor_to_major is null.");
  std::vector<bool> named(rank, false);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dimension = tiled.minor_to_major[i];
    if (dimension < 0 || dimension >= static_cast<int64_t>(rank) || named[static_cast<size_t>(dimension)])
      return InvalidArgument("The order of dimensions of a layout names %d twice or beyond the rank %d.",
                             dimension, rank);
    named[static_cast<size_t>(dimension)] = true;
  }
  return StridesOf(absl::MakeConstSpan(tiled.minor_to_major, rank), shape);
}

Strides StridesOf(absl::Span<const int64_t> minor_to_major, const hlo::Shape& shape) {
  Strides strides(shape.dims.size(), 0);
  int64_t stride = ElementBytes(shape);
  for (const int64_t dimension : minor_to_major) {
    strides[static_cast<size_t>(dimension)] = stride;
    stride = StrideBefore(stride, std::max<int64_t>(shape.dims[static_cast<size_t>(dimension)], 1));
  }
  return strides;
}

void CopyStrided(std::byte* to, const Strides& to_strides, const std::byte* from, const Strides& from_strides,
                 const hlo::Shape& shape) {
  if (*hlo::ElementCount(shape) == 0) return;
  CopyFrom(0, to, to_strides, from, from_strides, shape, ElementBytes(shape));
}

}  // namespace hlod::pjrt
