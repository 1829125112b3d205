// Shapes: element type, dimensions, optional layout, tuples. A value type: copyable, comparable, printable.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/hlo/primitive_type.h"

namespace hlod::hlo {

// Dimension sizes, dimension numbers or indices: one int64 per dimension.
using Dims = absl::InlinedVector<int64_t, 6>;

// The size of an unbounded dynamic dimension ("?"), with XLA's wire value.
inline constexpr int64_t kUnboundedSize = INT64_MIN;

struct Shape;

// The layout of an array in memory: XLA's LayoutProto. hlod's own buffers are always dense row-major; the
// layouts in a module are kept, printed and passed on, but do not change values. `physical_shape` is shared
// and never a null shape.
struct Layout {
  Dims minor_to_major;  // The dimensions, fastest first.
  std::vector<Dims> tiles;
  int64_t tail_padding_alignment = 1;  // The alignment in elements.
  PrimitiveType index_type = kInvalid;
  PrimitiveType pointer_type = kInvalid;
  int64_t element_size_in_bits = 0;  // 0: the width of the type.
  int64_t memory_space = 0;
  std::vector<std::pair<int64_t, Dims>> split_configs;  // Pairs of a dimension and its split indices.
  std::shared_ptr<const Shape> physical_shape;
  int64_t dynamic_shape_metadata_prefix_bytes = 0;

  static Layout RowMajor(int64_t rank);
  bool IsRowMajor() const;
  friend bool operator==(const Layout& a, const Layout& b);
  template <typename H>
  friend H AbslHashValue(H h, const Layout& layout) {
    return H::combine(std::move(h), layout.minor_to_major, layout.tiles, layout.element_size_in_bits,
                      layout.memory_space);
  }
};

struct Shape {
  PrimitiveType type = kInvalid;
  // The sizes; empty for scalars, tuples, tokens. For a dynamic dimension, its bound or kUnboundedSize.
  Dims dims;
  absl::InlinedVector<bool, 6> dynamic;  // Empty when all are static, otherwise one flag per dimension.
  std::vector<Shape> tuple;              // The elements of a tuple, or the array of a kBufferType.
  std::optional<Layout> layout;          // nullopt means row-major.

  static Shape Array(PrimitiveType type, absl::Span<const int64_t> dims);
  static Shape Array(PrimitiveType type, std::initializer_list<int64_t> dims) {
    return Array(type, absl::Span<const int64_t>(dims.begin(), dims.size()));
  }
  static Shape Scalar(PrimitiveType type) { return Array(type, {}); }
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();

  bool IsArray() const { return IsArrayType(type); }
  bool IsTuple() const { return type == kTupleType; }
  bool IsToken() const { return type == kTokenType; }
  bool IsScalar() const { return IsArray() && dims.empty(); }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool IsDynamic(int64_t dimension) const { return !dynamic.empty() && dynamic[dimension]; }
  // Returns true when any dimension here or in an element is dynamic.
  bool HasDynamicDimension() const;

  // True when all fields are equal, layouts included.
  friend bool operator==(const Shape& a, const Shape& b);
  template <typename H>
  friend H AbslHashValue(H h, const Shape& shape) {
    h = H::combine(std::move(h), shape.type, shape.dims, shape.tuple, shape.layout.has_value());
    return shape.layout ? H::combine(std::move(h), *shape.layout) : std::move(h);
  }
};

// Returns true when the shapes are equal, layouts ignored.
bool Compatible(const Shape& a, const Shape& b);
// Returns true when dimension sizes and dynamism are equal; element types and layouts may differ.
bool SameDimensions(const Shape& a, const Shape& b);

// Returns the number of elements of an array (a bound counts as the size), or nullopt when that overflows, is
// unbounded, or `shape` is not an array.
std::optional<int64_t> ElementCount(const Shape& shape);
// Returns the dense payload bytes of an array, or the sum over a tuple's leaves; tokens have none. Sub-byte
// elements take one byte each. nullopt when the count overflows an int64 or a dimension is unbounded.
std::optional<int64_t> ByteSize(const Shape& shape);

// Returns the shape at `index` inside nested tuples, or null.
const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index);

// A leaf of a nested tuple: an array, a token or an opaque value. An empty tuple has no leaves.
struct ShapeLeaf {
  Dims index;          // The path from the root; empty when the root is the leaf.
  const Shape* shape;  // Owned by the shape that was traversed.
};
// Returns the leaves in depth-first order: the flat order of Execute's arguments and results.
std::vector<ShapeLeaf> Leaves(const Shape& shape);

// Returns the number of shapes inside, itself included; counting stops at kMaxShapeNodes + 1.
int64_t NodeCount(const Shape& shape);

// Checks that a shape may be held in the IR: rank and nesting within limits, sizes not negative, layouts that
// are permutations, array byte size without overflow. INVALID_ARGUMENT, with the shape and the reason,
// otherwise.
absl::Status ValidateShape(const Shape& shape);

// Returns HLO text with layouts where a shape has them: "f32[2,3]{1,0}", "(s32[], f32[<=8])".
std::string ToString(const Shape& shape);
// Returns the text without layouts, for error messages.
std::string ToStringNoLayout(const Shape& shape);

// Returns the row-major strides in elements.
Dims RowMajorStrides(absl::Span<const int64_t> dims);

// The parameters and the result of a computation.
struct ProgramShape {
  std::vector<Shape> parameters;
  std::vector<std::string> parameter_names;  // Empty, or parallel to `parameters`.
  Shape result;
  friend bool operator==(const ProgramShape&, const ProgramShape&) = default;
};

inline constexpr int kMaxRank = 64;        // The maximum number of dimensions of an array.
inline constexpr int kMaxTupleDepth = 64;  // The maximum nesting of tuples.
// The maximum number of nodes of a shape: its tuples, their elements, and so on.
inline constexpr int64_t kMaxShapeNodes = 1 << 20;

}  // namespace hlod::hlo
