// The rules of shape inference: one function per rule that opcodes.inc names, and their helpers. InferShape
// has checked before: arity, the number of called computations, the attributes' alternative, and that ranks
// of array operands are at most kMaxRank. It returns a shape without layout; InferShape checks that its size
// does not overflow.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/errors/status.h"
#include "common/hlo/inference/shape_inference.h"

namespace hlod::hlo {

#define HLOD_OP(id, text, arity, called, attributes, rule, traits) \
  absl::StatusOr<Shape> Infer##rule(const InferenceInput& in);
#include "common/hlo/opcodes.inc"
#undef HLOD_OP

// Returns the attributes as the alternative that the opcode's row names.
template <typename T>
const T& AttributesOf(const InferenceInput& in) {
  return *std::get_if<T>(&in.attributes);
}

inline const Shape& Operand(const InferenceInput& in, size_t i) { return *in.operands[i]; }
inline std::string_view OpName(const InferenceInput& in) { return Name(in.opcode); }

// Returns "f32[8]", for messages: without layout, and cut when a tuple is very long.
std::string Text(const Shape& shape);

// A set of dimension numbers of one array.
class DimensionSet {
 public:
  // Returns false when `dimension` is outside [0, rank) or already in the set. REQUIRES: rank <= kMaxRank.
  bool Add(int64_t dimension, int64_t rank) {
    if (dimension < 0 || dimension >= rank || Has(dimension)) return false;
    bits_ |= uint64_t{1} << dimension;
    return true;
  }
  // REQUIRES: `dimension` lies in [0, 64).
  bool Has(int64_t dimension) const { return (bits_ >> dimension & 1) != 0; }

 private:
  uint64_t bits_ = 0;
};
static_assert(kMaxRank <= 64, "DimensionSet is one word.");

// Returns the shape with every layout removed.
Shape WithoutLayout(const Shape& shape);
// Returns the dimensions and dynamism of `dims_of` with element type `type`.
Shape ArrayLike(const Shape& dims_of, PrimitiveType type);
// Appends a dimension; the dynamic flags stay empty while all are static.
void AppendDimension(Shape& shape, int64_t size, bool dynamic);
// Appends dimension `dimension` of `from`.
inline void AppendDimension(Shape& shape, const Shape& from, int64_t dimension) {
  AppendDimension(shape, from.dims[dimension], from.IsDynamic(dimension));
}
// Returns true when two sizes may be equal at run time: they are equal, or one is unbounded.
inline bool SizesAgree(int64_t a, int64_t b) { return a == b || a == kUnboundedSize || b == kUnboundedSize; }

// Returns an error unless operand i is an array.
absl::Status ExpectArray(const InferenceInput& in, size_t i);
absl::Status ExpectArrays(const InferenceInput& in);
// Returns an error unless operand i is a scalar of element type `type`.
absl::Status ExpectScalar(const InferenceInput& in, size_t i, PrimitiveType type);
// Returns an error unless operand i is a scalar integer.
absl::Status ExpectIntegerScalar(const InferenceInput& in, size_t i);
// Returns an error unless operand i has the element type of operand 0.
absl::Status ExpectTypeOfFirst(const InferenceInput& in, size_t i);
// Returns an error unless operand i is an array with the sizes of operand 0. Merges its dynamism into
// `merged`, which starts as operand 0's.
absl::Status MergeDimensions(const InferenceInput& in, size_t i, Shape& merged);
// Returns an error unless the instruction states its shape, and the shape is an array.
absl::StatusOr<const Shape*> DeclaredArray(const InferenceInput& in);
absl::StatusOr<const Shape*> Declared(const InferenceInput& in);
// Returns an error unless dimension lies in [0, rank); `what` names the attribute.
absl::Status ExpectDimension(const InferenceInput& in, int64_t dimension, int64_t rank,
                             std::string_view what);
// Returns an error unless all lie in [0, rank) and are distinct, and ascend when `sorted`.
absl::Status ExpectDistinct(const InferenceInput& in, absl::Span<const int64_t> dimensions, int64_t rank,
                            std::string_view what, bool sorted = false);

// Returns an error unless called computation `c` takes `parameters` and, when `result` is not null, returns
// it (layouts aside).
absl::Status ExpectSignature(const InferenceInput& in, size_t c, absl::Span<const Shape> parameters,
                             const Shape* result);
// Returns an error unless called computation `c` reduces scalars of these n types: it has 2n parameters (all
// accumulators, then all values), and returns a scalar or a tuple of n scalars.
absl::Status ExpectReducer(const InferenceInput& in, size_t c, absl::Span<const PrimitiveType> types);

// The largest stride, dilation or padding (either sign) of a window or a pad, and the largest dilated or
// padded extent. Code that iterates over windows multiplies and adds these in 64 bits; within this bound no
// result overflows.
inline constexpr int64_t kExtentMax = int64_t{1} << 40;
// Returns an error unless -kExtentMax <= value <= kExtentMax; `what` names the value.
absl::Status ExpectExtent(const InferenceInput& in, int64_t dimension, int64_t value, std::string_view what);

// Returns the output size of a window over a dimension, or an error that names the dimension.
absl::StatusOr<int64_t> WindowedDimension(const InferenceInput& in, int64_t dimension, int64_t size,
                                          const WindowDimension& window);

// Returns the element type of a contraction of operands 0 and 1: the stated type, which must be an array's,
// else the wider type of the operands.
absl::StatusOr<PrimitiveType> ContractionType(const InferenceInput& in);

}  // namespace hlod::hlo
