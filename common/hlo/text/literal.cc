// Reads and prints literals as HLO text: "{ {1, 2}, {3, 4} }", "(1, {true})".
#include "common/hlo/text/internal.h"
#include "common/hlo/text/number.h"

namespace hlod::hlo {
namespace text {
namespace {

using absl::OkStatus;
using absl::Status;

// Reads the elements of dimension `dimension` and below in order, each by read().
template <typename ReadOne>
Status ReadDimension(Lexer& lexer, const Dims& dims, size_t dimension, ReadOne& read) {
  if (dimension == dims.size()) return read();
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  int64_t count = 0;
  RETURN_IF_ERROR(ReadList(lexer, "{", "}", [&]() -> Status {
    if (++count > dims[dimension]) {
      return lexer.ErrorAt(at, "dimension %d of the literal has more than %d elements", dimension,
                           dims[dimension]);
    }
    return ReadDimension(lexer, dims, dimension + 1, read);
  }));
  if (count == dims[dimension]) return OkStatus();
  return lexer.ErrorAt(at, "dimension %d of the literal has %d elements instead of %d", dimension, count,
                       dims[dimension]);
}

absl::StatusOr<Literal> ReadArray(Lexer& lexer, const Shape& shape, int64_t max_bytes) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  if (lexer.Try("{...}")) {
    return lexer.ErrorAt(at, "the constant is elided: its value is not in the text");
  }
  const std::optional<int64_t> count = ElementCount(shape);
  if (!count || shape.HasDynamicDimension())
    return lexer.ErrorAt(at, "no literal can have the shape %s", ToString(shape));
  // Each element needs at least one character: a large shape with a short text is refused before anything is
  // allocated.
  if (*count > static_cast<int64_t>(lexer.remaining())) {
    return lexer.ErrorAt(at, "a literal of shape %s has %d elements, more than this text", ToString(shape),
                         *count);
  }
  absl::StatusOr<Literal> literal = Literal::Make(shape, max_bytes);
  if (!literal.ok()) return lexer.At(at, literal.status());
  if (*count == 0 && lexer.Peek() == '{') {
    // An array without elements is written {}, or as nested braces, one level per dimension.
    const size_t start = lexer.position();
    if (lexer.Try("{") && lexer.Try("}")) return literal;
    lexer.Rewind(start);
  }
  Status status;
  VisitType(shape.type, [&]<typename T>() {
    T* next = literal->data<T>().data();
    auto read = [&] { return ReadElement(lexer, *next++); };
    status = ReadDimension(lexer, shape.dims, 0, read);
  });
  RETURN_IF_ERROR(status);
  return literal;
}

template <typename T>
void PrintDimension(const Literal& literal, size_t dimension, const T*& next, std::string& out) {
  const Dims& dims = literal.shape().dims;
  if (dimension == dims.size()) {
    PrintElement(*next++, dims.empty(), out);
    return;
  }
  const bool innermost = dimension + 1 == dims.size();
  out += innermost ? "{" : "{ ";
  for (int64_t i = 0; i < dims[dimension]; ++i) {
    if (i != 0) out += ", ";
    PrintDimension(literal, dimension + 1, next, out);
  }
  out += innermost ? "}" : " }";
}

// Returns true when an array without elements needs few braces; dimensions before the empty one may have any
// size.
bool IsShortToWrite(const Dims& dims) {
  constexpr int64_t kMaxBraces = 4096;
  int64_t braces = 1;
  for (const int64_t size : dims) {
    if (size == 0) return true;
    if (size > kMaxBraces / braces) return false;
    braces *= size;
  }
  return true;
}

void PrintLiteral(const Literal& literal, std::string& out) {
  if (literal.shape().IsTuple()) {
    out += '(';
    for (size_t i = 0; i < literal.elements().size(); ++i) {
      if (i != 0) out += ", ";
      PrintLiteral(literal.elements()[i], out);
    }
    out += ')';
    return;
  }
  if (literal.element_count() == 0 && !IsShortToWrite(literal.shape().dims)) {
    out += "{}";
    return;
  }
  VisitType(literal.shape().type, [&]<typename T>() {
    const T* next = literal.data<T>().data();
    PrintDimension(literal, 0, next, out);
  });
}

}  // namespace

absl::StatusOr<Literal> ReadLiteral(Lexer& lexer, const Shape& shape, int64_t max_bytes) {
  // Older text repeats the shape.
  if (lexer.AtName() && AtShape(lexer)) {
    const size_t at = (lexer.SkipBlanks(), lexer.position());
    ASSIGN_OR_RETURN(const Shape stated, ReadShape(lexer, kMaxTupleDepth));
    if (!Compatible(stated, shape)) {
      return lexer.ErrorAt(at, "the literal has shape %s instead of %s", ToString(stated), ToString(shape));
    }
  }
  if (shape.IsArray()) return ReadArray(lexer, shape, max_bytes);
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  if (!shape.IsTuple()) return lexer.ErrorAt(at, "no literal can have the shape %s", ToString(shape));
  std::vector<Literal> elements;
  RETURN_IF_ERROR(ReadList(lexer, "(", ")", [&]() -> Status {
    if (elements.size() == shape.tuple.size()) {
      return lexer.ErrorAt(at, "the literal has more than the %d elements of %s", shape.tuple.size(),
                           ToString(shape));
    }
    ASSIGN_OR_RETURN(Literal element, ReadLiteral(lexer, shape.tuple[elements.size()], max_bytes));
    elements.push_back(std::move(element));
    return OkStatus();
  }));
  if (elements.size() != shape.tuple.size()) {
    return lexer.ErrorAt(at, "the literal has %d elements, its shape is %s", elements.size(),
                         ToString(shape));
  }
  return Literal::MakeTuple(std::move(elements));
}

}  // namespace text

absl::StatusOr<Literal> ParseLiteral(std::string_view text, const Shape& shape) {
  RETURN_IF_ERROR(ValidateShape(shape));
  Lexer lexer(text);
  ASSIGN_OR_RETURN(Literal literal, text::ReadLiteral(lexer, shape, int64_t{1} << 31));
  if (!lexer.AtEnd()) return lexer.Expected("the end of the literal");
  return literal;
}

std::string ToText(const Literal& literal) {
  std::string out;
  text::PrintLiteral(literal, out);
  return out;
}

}  // namespace hlod::hlo
