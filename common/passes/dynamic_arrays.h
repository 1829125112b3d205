// Inside ExpandDynamic: arrays at their bounds with their sizes, and what is done with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/hlo/builder.h"

namespace hlod {

// An array at its bounds. sizes[d] is the s32 size of dimension d; nothing where that is static.
struct DynamicArray {
  hlo::Op data;
  std::vector<std::optional<hlo::Op>> sizes;
};

// Appends to one computation. Sizes are s32: bounds are at most INT32_MAX.
class DynamicArrays {
 public:
  explicit DynamicArrays(hlo::Builder& b) : b_(b) {}

  const hlo::Dims& Bounds(const DynamicArray& array) const { return b_.shape(array.data).dims; }
  hlo::PrimitiveType Type(const DynamicArray& array) const { return b_.shape(array.data).type; }
  hlo::Op Number(int64_t value) { return b_.Constant(hlo::Literal::Scalar(static_cast<int32_t>(value))); }
  hlo::Op Size(const DynamicArray& array, int64_t d) {
    return array.sizes[d] ? *array.sizes[d] : Number(Bounds(array)[d]);
  }

  // The size that dimension d of an instruction gets: `size`, checked at run time.
  hlo::Op CheckedSize(hlo::Op size, hlo::Op present, std::string_view name, int64_t bound);
  // One size of two that must be equal at run time.
  hlo::Op SameSize(hlo::Op size, hlo::Op other, std::string_view name, int64_t dimension);
  // Of two sizes of which either may be static: the dynamic one; both: checked to be the same.
  std::optional<hlo::Op> Common(const std::optional<hlo::Op>& size, const std::optional<hlo::Op>& other,
                                std::string_view name, int64_t dimension);

  // Whether an element's place in dimension d of an array of `dims` lies below `size`.
  hlo::Op Below(const hlo::Dims& dims, int64_t d, hlo::Op size);
  // The array with a scalar in the places beyond the sizes of `dimensions`.
  hlo::Op Masked(const DynamicArray& array, absl::Span<const int64_t> dimensions, hlo::Op value);
  hlo::Op Masked(const DynamicArray& array, hlo::Op value);
  hlo::Op Zero(hlo::PrimitiveType type) { return b_.Constant(hlo::Literal(hlo::Shape::Scalar(type))); }

  // What changes nothing for a commutative opcode; nothing when there is no such thing for the type.
  std::optional<hlo::Op> Neutral(hlo::Opcode opcode, hlo::PrimitiveType type);

  // Elements along one dimension at s32 indices, clamped.
  hlo::Op Take(hlo::Op data, int64_t dimension, hlo::Op indices);

  // Where the elements of an array of `to` lie in one of `from`, both counted row-major at the bounds: the
  // k-th element that is there of one is the k-th of the other.
  hlo::Op PlacesOfReshaped(const hlo::Dims& from, const std::vector<hlo::Op>& from_sizes, const hlo::Dims& to,
                           const std::vector<hlo::Op>& to_sizes);

  hlo::Op Product(const std::vector<hlo::Op>& sizes);

 private:
  hlo::Builder& b_;
};

}  // namespace hlod
