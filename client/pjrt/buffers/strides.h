// Arrays in the host's memory, whose elements may lie in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/pjrt/abi/buffer.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt {

// Bytes from one index to the next, per dimension; they may be negative.
using Strides = std::vector<int64_t>;

Strides RowMajorStrides(const hlo::Shape& shape);
// Returns the strides of the shape's elements in a dense array whose dimensions have this order, minor first.
Strides StridesOf(absl::Span<const int64_t> minor_to_major, const hlo::Shape& shape);
// Returns the strides of the shape's elements in a dense array of this layout. INVALID_ARGUMENT when the
// layout is not one of the shape; UNIMPLEMENTED for tiles.
absl::StatusOr<Strides> StridesOf(const abi::Buffer_MemoryLayout& layout, const hlo::Shape& shape);

// Copies every element of an array of this shape. `to` and `from` point at the element whose indices are all
// 0.
void CopyStrided(std::byte* to, const Strides& to_strides, const std::byte* from, const Strides& from_strides,
                 const hlo::Shape& shape);

}  // namespace hlod::pjrt
