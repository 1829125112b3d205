// The shape and the layout that the arguments of an entry state.
#pragma once

#include "absl/status/statusor.h"
#include "client/pjrt/buffers/element_type.h"
#include "client/pjrt/buffers/memory_layout.h"
#include "client/pjrt/entry.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt {

inline absl::StatusOr<hlo::Shape> ShapeFrom(abi::BufferType element_type, const int64_t* dims,
                                            size_t num_dims) {
  if (num_dims > 0) RETURN_IF_ERROR(Given(dims, "dims"));
  ASSIGN_OR_RETURN(const hlo::PrimitiveType type, FromBufferType(element_type));
  hlo::Shape shape =
      type == hlo::kTokenType ? hlo::Shape::Token() : hlo::Shape::Array(type, {dims, num_dims});
  RETURN_IF_ERROR(hlo::ValidateShape(shape));
  return shape;
}

template <typename Arguments>
absl::StatusOr<hlo::Shape> ShapeFrom(const Arguments& args) {
  return ShapeFrom(args.shape_element_type, args.shape_dims, args.shape_num_dims);
}

// Returns the row-major order when no layout is stated.
inline absl::StatusOr<DimensionOrder> OrderFrom(const abi::Buffer_MemoryLayout* layout,
                                                const hlo::Shape& shape) {
  if (layout == nullptr || !shape.IsArray()) return RowMajorOrder(shape.dims.size());
  return OrderOf(*layout, shape);
}

}  // namespace hlod::pjrt
