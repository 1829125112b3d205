// Shapes as HLO text: "f32[2,3]{1,0}", "(s32[], f32[<=8])".
#include "common/base/text/strings.h"
#include "common/hlo/shape.h"

namespace hlod::hlo {
namespace {

void Print(const Shape& shape, bool layouts, std::string& out);

template <typename List, typename PrintOne>
void PrintJoined(const List& list, PrintOne print_one, std::string& out) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out += ',';
    first = false;
    print_one(item);
  }
}

void PrintNumbers(const Dims& numbers, std::string& out) {
  PrintJoined(numbers, [&out](int64_t n) { absl::StrAppend(&out, n); }, out);
}

// Appends the part of a layout that follows the dimension order, ":T(8,128)(2,1)S(1)", without parts that
// have default values.
void PrintLayoutTail(const Layout& layout, std::string& out) {
  if (!layout.tiles.empty()) {
    out += 'T';
    for (const Dims& tile : layout.tiles) {
      out += '(';
      // XLA stores the smallest int64 for a tile dimension that is merged with the next more minor one.
      PrintJoined(
          tile, [&out](int64_t n) { n == INT64_MIN ? out.append("*") : (absl::StrAppend(&out, n), out); },
          out);
      out += ')';
    }
  }
  if (layout.tail_padding_alignment != 1) absl::StrAppend(&out, "L(", layout.tail_padding_alignment, ")");
  if (layout.index_type != kInvalid) absl::StrAppend(&out, "#(", ToAbsl(Name(layout.index_type)), ")");
  if (layout.pointer_type != kInvalid) absl::StrAppend(&out, "*(", ToAbsl(Name(layout.pointer_type)), ")");
  if (layout.element_size_in_bits != 0) absl::StrAppend(&out, "E(", layout.element_size_in_bits, ")");
  if (layout.memory_space != 0) absl::StrAppend(&out, "S(", layout.memory_space, ")");
  if (!layout.split_configs.empty()) {
    out += "SC";
    for (const auto& [dimension, indices] : layout.split_configs) {
      absl::StrAppend(&out, "(", dimension, ":");
      PrintNumbers(indices, out);
      out += ')';
    }
  }
  if (layout.physical_shape) {
    out += "P(";
    Print(*layout.physical_shape, true, out);
    out += ')';
  }
  if (layout.dynamic_shape_metadata_prefix_bytes != 0) {
    absl::StrAppend(&out, "M(", layout.dynamic_shape_metadata_prefix_bytes, ")");
  }
}

void PrintLayout(const Layout& layout, std::string& out) {
  std::string tail;
  PrintLayoutTail(layout, tail);
  if (layout.minor_to_major.empty() && tail.empty()) return;  // The layout of a plain scalar.
  out += '{';
  PrintNumbers(layout.minor_to_major, out);
  if (!tail.empty()) absl::StrAppend(&out, ":", tail);
  out += '}';
}

void PrintTuple(const Shape& shape, bool layouts, std::string& out) {
  out += '(';
  for (size_t i = 0; i < shape.tuple.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) absl::StrAppend(&out, "/*index=", i, "*/");
    Print(shape.tuple[i], layouts, out);
  }
  out += ')';
}

void PrintDimension(const Shape& shape, int64_t dimension, std::string& out) {
  const int64_t size = shape.dims[dimension];
  if (!shape.IsDynamic(dimension)) {
    absl::StrAppend(&out, size);
  } else if (size == kUnboundedSize) {
    out += '?';
  } else {
    absl::StrAppend(&out, "<=", size);
  }
}

void Print(const Shape& shape, bool layouts, std::string& out) {
  if (shape.IsTuple()) return PrintTuple(shape, layouts, out);
  if (shape.type == kBufferType) {
    out += "b(";
    for (const Shape& array : shape.tuple) Print(array, layouts, out);
    out += ')';
    return;
  }
  absl::StrAppend(&out, ToAbsl(Name(shape.type)), "[");
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (i > 0) out += ',';
    PrintDimension(shape, i, out);
  }
  out += ']';
  if (layouts && shape.layout) PrintLayout(*shape.layout, out);
}

}  // namespace

std::string ToString(const Shape& shape) {
  std::string out;
  Print(shape, true, out);
  return out;
}

std::string ToStringNoLayout(const Shape& shape) {
  std::string out;
  Print(shape, false, out);
  return out;
}

}  // namespace hlod::hlo
