// Makes, compares, measures and checks shapes.
#include "common/hlo/shape.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"

namespace hlod::hlo {
namespace {

// Calls visit(index, leaf) for each leaf below `shape`, whose own path is `index`.
template <typename Visit>
void WalkLeaves(const Shape& shape, Dims& index, Visit& visit) {
  if (!shape.IsTuple()) {
    visit(index, shape);
    return;
  }
  for (size_t i = 0; i < shape.tuple.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    WalkLeaves(shape.tuple[i], index, visit);
    index.pop_back();
  }
}

bool SameDynamism(const Shape& a, const Shape& b) {
  if (a.dynamic.empty() && b.dynamic.empty()) return true;
  for (int64_t i = 0; i < a.rank(); ++i) {
    if (a.IsDynamic(i) != b.IsDynamic(i)) return false;
  }
  return true;
}

void CountNodes(const Shape& shape, int64_t& count) {
  if (++count > kMaxShapeNodes) return;
  for (const Shape& element : shape.tuple) {
    CountNodes(element, count);
    if (count > kMaxShapeNodes) return;
  }
}

absl::Status ValidateLayout(const Shape& shape, int depth);

absl::Status ValidateNode(const Shape& shape, int depth) {
  if (depth > kMaxTupleDepth) {
    return InvalidArgument("A shape nests deeper than the limit (%d).", kMaxTupleDepth);
  }
  if (shape.IsTuple() || shape.type == kBufferType) {
    if (!shape.dims.empty()) return InvalidArgument("A %s shape has dimensions.", Name(shape.type));
    if (shape.type == kBufferType && (shape.tuple.size() != 1 || !shape.tuple[0].IsArray())) {
      return InvalidArgument("A buffer shape holds something other than one array.");
    }
    for (const Shape& element : shape.tuple) RETURN_IF_ERROR(ValidateNode(element, depth + 1));
    return absl::OkStatus();
  }
  if (!shape.tuple.empty())
    return InvalidArgument("A shape of type (%s) has tuple elements.", Name(shape.type));
  if (shape.IsToken() || shape.type == kOpaqueType) {
    if (!shape.dims.empty()) return InvalidArgument("A %s shape has dimensions.", Name(shape.type));
    return absl::OkStatus();
  }
  if (!shape.IsArray()) return InvalidArgument("A shape has no valid element type.");
  if (shape.rank() > kMaxRank) {
    return InvalidArgument("The rank (%d) of a shape exceeds the limit (%d).", shape.rank(), kMaxRank);
  }
  if (!shape.dynamic.empty() && shape.dynamic.size() != shape.dims.size()) {
    return InvalidArgument("A shape of rank (%d) has (%d) dynamic flags.", shape.rank(),
                           shape.dynamic.size());
  }
  bool unbounded = false;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape.dims[i] == kUnboundedSize && shape.IsDynamic(i)) {
      unbounded = true;
    } else if (shape.dims[i] < 0) {
      return InvalidArgument("The size (%d) of dimension %d of a shape is negative.", shape.dims[i], i);
    }
  }
  if (!unbounded && !ByteSize(shape)) {
    return InvalidArgument("The byte size of shape (%s) overflows 64 bits.", ToStringNoLayout(shape));
  }
  return shape.layout ? ValidateLayout(shape, depth) : absl::OkStatus();
}

absl::Status ValidateLayout(const Shape& shape, int depth) {
  const Layout& layout = *shape.layout;
  if (layout.minor_to_major.size() != shape.dims.size()) {
    return InvalidArgument("The layout of shape (%s) names (%d) dimensions.", ToStringNoLayout(shape),
                           layout.minor_to_major.size());
  }
  uint64_t seen = 0;
  for (const int64_t dimension : layout.minor_to_major) {
    if (dimension < 0 || dimension >= shape.rank() || (seen >> dimension & 1) != 0) {
      return InvalidArgument(
          "The layout of shape (%s) is not a permutation of its dimensions: it names dimension (%d).",
          ToStringNoLayout(shape), dimension);
    }
    seen |= uint64_t{1} << dimension;
  }
  return layout.physical_shape ? ValidateNode(*layout.physical_shape, depth + 1) : absl::OkStatus();
}

}  // namespace

Layout Layout::RowMajor(int64_t rank) {
  Layout layout;
  for (int64_t i = rank - 1; i >= 0; --i) layout.minor_to_major.push_back(i);
  return layout;
}

bool Layout::IsRowMajor() const {
  for (size_t i = 0; i < minor_to_major.size(); ++i) {
    if (minor_to_major[i] != static_cast<int64_t>(minor_to_major.size() - 1 - i)) return false;
  }
  return tiles.empty();
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.minor_to_major != b.minor_to_major || a.tail_padding_alignment != b.tail_padding_alignment ||
      a.index_type != b.index_type || a.pointer_type != b.pointer_type ||
      a.element_size_in_bits != b.element_size_in_bits || a.memory_space != b.memory_space ||
      a.dynamic_shape_metadata_prefix_bytes != b.dynamic_shape_metadata_prefix_bytes || a.tiles != b.tiles ||
      a.split_configs != b.split_configs) {
    return false;
  }
  if (a.physical_shape == b.physical_shape) return true;
  return a.physical_shape && b.physical_shape && *a.physical_shape == *b.physical_shape;
}

Shape Shape::Array(PrimitiveType type, absl::Span<const int64_t> dims) {
  Shape shape;
  shape.type = type;
  shape.dims.assign(dims.begin(), dims.end());
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.type = kTupleType;
  shape.tuple = std::move(elements);
  return shape;
}

Shape Shape::Token() {
  Shape shape;
  shape.type = kTokenType;
  return shape;
}

bool Shape::HasDynamicDimension() const {
  return std::find(dynamic.begin(), dynamic.end(), true) != dynamic.end() ||
         std::any_of(tuple.begin(), tuple.end(),
                     [](const Shape& element) { return element.HasDynamicDimension(); });
}

bool operator==(const Shape& a, const Shape& b) {
  return a.type == b.type && a.dims == b.dims && SameDynamism(a, b) && a.layout == b.layout &&
         a.tuple == b.tuple;
}

bool Compatible(const Shape& a, const Shape& b) {
  if (&a == &b) return true;
  return a.type == b.type && SameDimensions(a, b) &&
         std::equal(a.tuple.begin(), a.tuple.end(), b.tuple.begin(), b.tuple.end(), Compatible);
}

bool SameDimensions(const Shape& a, const Shape& b) { return a.dims == b.dims && SameDynamism(a, b); }

std::optional<int64_t> ElementCount(const Shape& shape) {
  if (!shape.IsArray()) return std::nullopt;
  // An empty array is empty for any size of its other dimensions, but those must be valid sizes.
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (const int64_t size : shape.dims) {
    if (size < 0) return std::nullopt;
    empty |= size == 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  if (empty) return 0;
  return overflow ? std::nullopt : std::optional<int64_t>(count);
}

std::optional<int64_t> ByteSize(const Shape& shape) {
  if (shape.IsArray()) {
    const std::optional<int64_t> count = ElementCount(shape);
    return count ? CheckedMultiply(*count, ByteWidth(shape.type)) : std::nullopt;
  }
  std::optional<int64_t> total = 0;
  for (const Shape& element : shape.tuple) {
    const std::optional<int64_t> bytes = ByteSize(element);
    if (bytes) total = CheckedAdd(*total, *bytes);
    if (!bytes || !total) return std::nullopt;
  }
  return total;
}

const Shape* SubShape(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* at = &shape;
  for (const int64_t i : index) {
    if (!at->IsTuple() || i < 0 || i >= static_cast<int64_t>(at->tuple.size())) return nullptr;
    at = &at->tuple[i];
  }
  return at;
}

std::vector<ShapeLeaf> Leaves(const Shape& shape) {
  std::vector<ShapeLeaf> leaves;
  Dims index;
  auto visit = [&leaves](const Dims& path, const Shape& leaf) { leaves.push_back({path, &leaf}); };
  WalkLeaves(shape, index, visit);
  return leaves;
}

int64_t NodeCount(const Shape& shape) {
  int64_t count = 0;
  CountNodes(shape, count);
  return count;
}

absl::Status ValidateShape(const Shape& shape) {
  RETURN_IF_ERROR(ValidateNode(shape, 0));
  if (shape.IsTuple() && NodeCount(shape) > kMaxShapeNodes) {
    return InvalidArgument("A tuple shape holds more shapes than the limit (%d).", kMaxShapeNodes);
  }
  if (!shape.HasDynamicDimension() && !ByteSize(shape)) {
    return InvalidArgument("The byte size of a tuple shape overflows 64 bits.");
  }
  return absl::OkStatus();
}

Dims RowMajorStrides(absl::Span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    // A stride overflows only for an array that cannot exist (or is empty), so it is never used.
    if (__builtin_mul_overflow(stride, dims[i], &stride)) stride = 0;
  }
  return strides;
}

}  // namespace hlod::hlo
