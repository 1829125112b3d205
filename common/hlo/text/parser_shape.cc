// Parses shapes with their layouts from HLO text: "f32[<=8,128]{1,0:T(8,128)}", "(s32[], token[])".
#include <optional>

#include "common/base/text/strings.h"
#include "common/hlo/text/internal.h"

namespace hlod::hlo {
namespace text {
namespace {

using absl::OkStatus;
using absl::Status;

absl::StatusOr<Shape> ReadNested(Lexer& lexer, int depth_left);

// Reads (8,128): integers, or '*' for a tile dimension that is merged with the next one.
absl::StatusOr<Dims> ReadTile(Lexer& lexer) {
  Dims tile;
  RETURN_IF_ERROR(ReadList(lexer, "(", ")", [&]() -> Status {
    if (lexer.Try("*")) {
      tile.push_back(INT64_MIN);
      return OkStatus();
    }
    ASSIGN_OR_RETURN(const int64_t size, lexer.Integer());
    tile.push_back(size);
    return OkStatus();
  }));
  return tile;
}

// Reads (n).
Status ReadParenthesized(Lexer& lexer, int64_t& value) {
  RETURN_IF_ERROR(lexer.Expect("("));
  ASSIGN_OR_RETURN(value, lexer.Integer());
  return lexer.Expect(")");
}

Status ReadIndexType(Lexer& lexer, PrimitiveType& type) {
  RETURN_IF_ERROR(lexer.Expect("("));
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view name, lexer.Name());
  const std::optional<PrimitiveType> parsed = ParsePrimitiveType(name);
  if (!parsed || !IsInteger(*parsed)) return lexer.ErrorAt(at, "\"%s\" is not an integer type", name);
  type = *parsed;
  return lexer.Expect(")");
}

Status ReadSplitConfigs(Lexer& lexer, Layout& layout) {
  do {
    RETURN_IF_ERROR(lexer.Expect("("));
    std::pair<int64_t, Dims> config;
    ASSIGN_OR_RETURN(config.first, lexer.Integer());
    RETURN_IF_ERROR(lexer.Expect(":"));
    do {
      ASSIGN_OR_RETURN(const int64_t index, lexer.Integer());
      config.second.push_back(index);
    } while (lexer.Try(","));
    RETURN_IF_ERROR(lexer.Expect(")"));
    layout.split_configs.push_back(std::move(config));
  } while (lexer.Peek() == '(');
  return OkStatus();
}

// Reads the parts after the ':' of a layout, each of which begins with a letter.
Status ReadLayoutParts(Lexer& lexer, Layout& layout, int depth_left) {
  while (lexer.Peek() != '}') {
    if (lexer.Try("SC")) {
      RETURN_IF_ERROR(ReadSplitConfigs(lexer, layout));
    } else if (lexer.Try("T")) {
      do {
        ASSIGN_OR_RETURN(Dims tile, ReadTile(lexer));
        layout.tiles.push_back(std::move(tile));
      } while (lexer.Peek() == '(');
    } else if (lexer.Try("L")) {
      RETURN_IF_ERROR(ReadParenthesized(lexer, layout.tail_padding_alignment));
    } else if (lexer.Try("#")) {
      RETURN_IF_ERROR(ReadIndexType(lexer, layout.index_type));
    } else if (lexer.Try("*")) {
      RETURN_IF_ERROR(ReadIndexType(lexer, layout.pointer_type));
    } else if (lexer.Try("E")) {
      RETURN_IF_ERROR(ReadParenthesized(lexer, layout.element_size_in_bits));
    } else if (lexer.Try("S")) {
      RETURN_IF_ERROR(ReadParenthesized(lexer, layout.memory_space));
    } else if (lexer.Try("M")) {
      RETURN_IF_ERROR(ReadParenthesized(lexer, layout.dynamic_shape_metadata_prefix_bytes));
    } else if (lexer.Try("P")) {
      RETURN_IF_ERROR(lexer.Expect("("));
      ASSIGN_OR_RETURN(Shape physical, ReadNested(lexer, depth_left - 1));
      layout.physical_shape = std::make_shared<const Shape>(std::move(physical));
      RETURN_IF_ERROR(lexer.Expect(")"));
    } else if (lexer.Try("D")) {
      return lexer.At(lexer.position(), Unimplemented("sparse layouts are not supported"));
    } else {
      return lexer.Expected("a part of a layout (T, L, #, *, E, S, SC, P or M)");
    }
  }
  return OkStatus();
}

// Returns true at a layout: a '{' directly after an array shape and before an integer or ':', or the empty
// layout of a scalar. After a blank, '{' starts a literal: "f32[2] {1, 2}".
bool AtLayout(Lexer& lexer, int64_t rank) {
  const size_t start = lexer.position();
  lexer.SkipBlanks();
  if (lexer.position() != start) {
    lexer.Rewind(start);
    return false;
  }
  bool layout = false;
  if (lexer.Try("{")) {
    const char next = lexer.Peek();
    layout = (next >= '0' && next <= '9') || next == ':' || (next == '}' && rank == 0);
  }
  lexer.Rewind(start);
  return layout;
}

Status ReadLayout(Lexer& lexer, Shape& shape, int depth_left) {
  Layout layout;
  RETURN_IF_ERROR(lexer.Expect("{"));
  if (lexer.Peek() != ':' && lexer.Peek() != '}') {
    do {
      ASSIGN_OR_RETURN(const int64_t dimension, lexer.Integer());
      layout.minor_to_major.push_back(dimension);
    } while (lexer.Try(","));
  }
  if (lexer.Try(":")) RETURN_IF_ERROR(ReadLayoutParts(lexer, layout, depth_left));
  RETURN_IF_ERROR(lexer.Expect("}"));
  // A scalar's plain layout is dropped, as in the codec.
  if (!shape.dims.empty() || layout != Layout()) shape.layout = std::move(layout);
  return OkStatus();
}

Status ReadDimension(Lexer& lexer, Shape& shape) {
  const bool unbounded = lexer.Try("?"), bounded = !unbounded && lexer.Try("<=");
  int64_t size = kUnboundedSize;
  if (!unbounded) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(size, lexer.Integer());
    if (size < 0) return lexer.ErrorAt(at, "a dimension has the negative size %d", size);
  }
  shape.dims.push_back(size);
  shape.dynamic.push_back(unbounded || bounded);
  return OkStatus();
}

absl::StatusOr<Shape> ReadArray(Lexer& lexer, PrimitiveType type, int depth_left) {
  Shape shape;
  shape.type = type;
  const size_t at = lexer.position();
  RETURN_IF_ERROR(ReadList(lexer, "[", "]", [&]() -> Status {
    if (shape.rank() >= kMaxRank) return lexer.ErrorAt(at, "the shape has more than %d dimensions", kMaxRank);
    return ReadDimension(lexer, shape);
  }));
  bool any_dynamic = false;
  for (const bool dynamic : shape.dynamic) any_dynamic |= dynamic;
  if (!any_dynamic) shape.dynamic.clear();
  if (AtLayout(lexer, shape.rank())) RETURN_IF_ERROR(ReadLayout(lexer, shape, depth_left));
  return shape;
}

absl::StatusOr<Shape> ReadNested(Lexer& lexer, int depth_left) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  if (depth_left < 0) return lexer.ErrorAt(at, "the shape nests too deep");
  if (lexer.Peek() == '(') {
    Shape tuple = Shape::Tuple({});
    RETURN_IF_ERROR(ReadList(lexer, "(", ")", [&]() -> Status {
      ASSIGN_OR_RETURN(Shape element, ReadNested(lexer, depth_left - 1));
      tuple.tuple.push_back(std::move(element));
      return OkStatus();
    }));
    return tuple;
  }
  absl::StatusOr<std::string_view> name = lexer.Name();
  if (!name.ok()) return lexer.Expected("a shape");
  const std::optional<PrimitiveType> type = ParsePrimitiveType(*name);
  if (!type || *type == kTupleType) return lexer.ErrorAt(at, "\"%s\" is not an element type", *name);
  if (*type == kBufferType) {
    Shape buffer;
    buffer.type = kBufferType;
    RETURN_IF_ERROR(lexer.Expect("("));
    ASSIGN_OR_RETURN(Shape array, ReadNested(lexer, depth_left - 1));
    buffer.tuple.push_back(std::move(array));
    RETURN_IF_ERROR(lexer.Expect(")"));
    return buffer;
  }
  return ReadArray(lexer, *type, depth_left);
}

}  // namespace

absl::StatusOr<Shape> ReadShape(Lexer& lexer, int nesting_max) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(Shape shape, ReadNested(lexer, std::min(nesting_max, kMaxTupleDepth)));
  RETURN_IF_ERROR(lexer.At(at, ValidateShape(shape)));
  return shape;
}

bool AtShape(Lexer& lexer) {
  if (lexer.Peek() == '(') return true;
  const size_t start = lexer.position();
  const absl::StatusOr<std::string_view> name = lexer.Name();
  const bool shape =
      name.ok() && (lexer.Peek() == '[' || (*name == Name(kBufferType) && lexer.Peek() == '('));
  lexer.Rewind(start);
  return shape;
}

}  // namespace text

absl::StatusOr<Shape> ParseShape(std::string_view text) {
  Lexer lexer(text);
  ASSIGN_OR_RETURN(Shape shape, text::ReadShape(lexer, kMaxTupleDepth));
  if (!lexer.AtEnd()) return lexer.Expected("the end of the shape");
  return shape;
}

}  // namespace hlod::hlo
