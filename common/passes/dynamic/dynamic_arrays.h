// Part of ExpandDynamic: arrays at their bounds together with their sizes, and operations on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/hlo/builder.h"

namespace hlod::passes {

// An array at its bounds. sizes[d] is the s32 size of dimension d; nullopt if that is static.
struct DynamicArray {
  hlo::Op data;
  std::vector<std::optional<hlo::Op>> sizes;
};

// Appends to one computation. Sizes are s32, because bounds are at most INT32_MAX.
class DynamicArrays {
 public:
  explicit DynamicArrays(hlo::Builder& b) : b_(b) {}

  const hlo::Dims& Bounds(const DynamicArray& array) const { return b_.shape(array.data).dims; }
  hlo::PrimitiveType Type(const DynamicArray& array) const { return b_.shape(array.data).type; }
  hlo::Op Number(int64_t value) { return b_.Constant(hlo::Literal::Scalar(static_cast<int32_t>(value))); }
  hlo::Op Size(const DynamicArray& array, int64_t d) {
    return array.sizes[d] ? *array.sizes[d] : Number(Bounds(array)[d]);
  }

  // Returns `size` for dimension d of an instruction, checked at run time against `bound` and against
  // `present`, the number of elements that exist.
  hlo::Op CheckedSize(hlo::Op size, hlo::Op present, std::string_view name, int64_t bound);
  // Returns `size`, with a run-time check that `other` is equal.
  hlo::Op SameSize(hlo::Op size, hlo::Op other, std::string_view name, int64_t dimension);
  // Returns the size of two equal dimensions: the dynamic size if only one is dynamic; if both are, a check
  // that they are equal is appended. nullopt if both are static.
  std::optional<hlo::Op> Common(const std::optional<hlo::Op>& size, const std::optional<hlo::Op>& other,
                                std::string_view name, int64_t dimension);

  // Returns, per element of an array of `dims`, true when its index in dimension d is below `size`.
  hlo::Op Below(const hlo::Dims& dims, int64_t d, hlo::Op size);
  // Returns the array with `value` at the positions beyond the sizes of `dimensions`.
  hlo::Op Masked(const DynamicArray& array, absl::Span<const int64_t> dimensions, hlo::Op value);
  hlo::Op Masked(const DynamicArray& array, hlo::Op value);
  hlo::Op Zero(hlo::PrimitiveType type) { return b_.Constant(hlo::Literal(hlo::Shape::Scalar(type))); }

  // Returns the neutral element of a commutative opcode; nullopt if the type has none.
  std::optional<hlo::Op> Neutral(hlo::Opcode opcode, hlo::PrimitiveType type);

  // Returns the elements along one dimension at s32 indices, which are clamped.
  hlo::Op Take(hlo::Op data, int64_t dimension, hlo::Op indices);

  // Returns, per position in an array of `to`, the position of the same element in an array of `from`, both
  // counted row-major at the bounds: the k-th existing element of one array is the k-th of the other.
  hlo::Op PlacesOfReshaped(const hlo::Dims& from, const std::vector<hlo::Op>& from_sizes, const hlo::Dims& to,
                           const std::vector<hlo::Op>& to_sizes);

  hlo::Op Product(const std::vector<hlo::Op>& sizes);

 private:
  hlo::Builder& b_;
};

}  // namespace hlod::passes
