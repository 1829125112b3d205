// Reads nested lists, splats and bytes into a literal. Its type is stated after the elements.
#include "client/import/text/attributes/dense.h"

#include "client/import/program/elements.h"
#include "client/import/text/attributes/element.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

using hlo::Dims;
using hlo::Literal;

// Reads the elements of dimension `dimension` and below, in order, each with read().
template <typename ReadOne>
absl::Status ReadList(Reader& reader, const Dims& dims, size_t dimension, ReadOne& read) {
  if (dimension == dims.size()) return read();
  const size_t at = (reader.SkipBlanks(), reader.position());
  RETURN_IF_ERROR(reader.Expect("["));
  int64_t count = 0;
  while (!reader.Try("]")) {
    if (count == dims[dimension]) {
      return reader.ErrorAt(at, "this list has more than the %d elements of dimension %d", count, dimension);
    }
    if (count > 0) RETURN_IF_ERROR(reader.Expect(","));
    RETURN_IF_ERROR(ReadList(reader, dims, dimension + 1, read));
    ++count;
  }
  if (count == dims[dimension]) return absl::OkStatus();
  return reader.ErrorAt(at, "this list has %d elements; dimension %d has %d", count, dimension,
                        dims[dimension]);
}

// Converts hexadecimal digits to bytes. `at` is the position for errors.
absl::StatusOr<std::string> FromHex(Reader& reader, std::string_view digits, size_t at) {
  if (digits.size() % 2 != 0)
    return reader.ErrorAt(at, "%d hexadecimal digits do not make whole bytes", digits.size());
  std::string bytes(digits.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = HexDigit(digits[2 * i]), low = HexDigit(digits[2 * i + 1]);
    if (high < 0 || low < 0)
      return reader.ErrorAt(at, "expected hexadecimal digits, found \"%s\"", digits.substr(2 * i, 2));
    bytes[i] = static_cast<char>(16 * high + low);
  }
  return bytes;
}

// Returns a literal for one repeated element, which the caller sets. Charges the bytes that the text does not
// have.
absl::StatusOr<Literal> MakeSplat(Source& source, const Type& type, size_t at) {
  const std::optional<int64_t> bytes = hlo::ByteSize(type);
  if (!bytes)
    return source.reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  RETURN_IF_ERROR(source.CountSplat(at, *bytes));
  return Literal::Make(type, kMaxSplatBytes);
}

// Returns the elements of `type` from their bytes. Charges the bytes that the text does not have.
absl::StatusOr<Literal> FromBytes(Source& source, const Type& type, std::string_view digits, size_t at) {
  Reader& reader = source.reader;
  ASSIGN_OR_RETURN(const std::string bytes, FromHex(reader, digits, at));
  const std::optional<int64_t> size = hlo::ByteSize(type);
  if (!size) return reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  if (*size > static_cast<int64_t>(bytes.size())) RETURN_IF_ERROR(source.CountSplat(at, *size));
  absl::StatusOr<Literal> literal = LiteralFromBytes(type, bytes);
  RETURN_IF_ERROR(reader.At(at, literal.status()));
  return literal;
}

// Reads the elements of `type` from the text that ends at `end`.
absl::StatusOr<Literal> ReadElements(Source& source, const Type& type, size_t end) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  const std::optional<int64_t> count = hlo::ElementCount(type);
  if (!count || type.HasDynamicDimension() || !type.IsArray())
    return reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  if (at == end) {
    if (*count == 0) return Literal::Make(type, kMaxSplatBytes);
    return reader.ErrorAt(at, "expected %d elements, found none", *count);
  }
  const bool is_splat = reader.Peek() != '[';
  // Each element takes a character: a large type over a short text is refused before memory is allocated.
  if (!is_splat && *count > static_cast<int64_t>(end - at))
    return reader.ErrorAt(at, "expected %d elements, found fewer", *count);
  ASSIGN_OR_RETURN(Literal literal, is_splat ? MakeSplat(source, type, at) : Literal::Make(type, INT64_MAX));
  absl::Status status;
  hlo::VisitType(type.type, [&]<typename T>() {
    T only{};
    T* next = is_splat ? &only : literal.data<T>().data();
    auto read = [&] { return ReadElement(reader, *next++); };
    status = is_splat ? read() : ReadList(reader, type.dims, 0, read);
    if (!is_splat || *count == 0) return;
    literal.data<T>()[0] = only;
    RepeatFirst(literal);
  });
  RETURN_IF_ERROR(status);
  reader.SkipBlanks();
  if (reader.position() != end) return reader.Expected("'>' after the elements");
  return literal;
}

// Reads ": type" after the elements.
absl::StatusOr<Type> ReadTypeOfElements(Source& source) {
  RETURN_IF_ERROR(source.reader.Expect(":"));
  return ReadType(source);
}

}  // namespace

absl::StatusOr<Literal> ReadDense(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("<"));
  const size_t begin = (reader.SkipBlanks(), reader.position());
  std::string_view digits;
  const bool is_bytes = reader.Peek() == '"';
  if (is_bytes) {
    ASSIGN_OR_RETURN(digits, reader.PlainString());
    if (!digits.starts_with("0x"))
      return reader.ErrorAt(begin, "expected \"0x...\": strings are not elements");
    digits.remove_prefix(2);
  }
  // The type follows the elements and determines their form.
  const size_t end = is_bytes ? (reader.SkipBlanks(), reader.position()) : reader.text().find('>', begin);
  if (end == std::string_view::npos) return reader.ErrorAt(begin, "dense<...> is never closed");
  reader.Rewind(end);
  RETURN_IF_ERROR(reader.Expect(">"));
  ASSIGN_OR_RETURN(const Type type, ReadTypeOfElements(source));
  if (is_bytes) {
    if (!type.IsArray() || type.HasDynamicDimension())
      return reader.ErrorAt(begin, "literals of the type %s are not supported", hlo::ToString(type));
    return FromBytes(source, type, digits, begin);
  }
  const size_t after = reader.position();
  reader.Rewind(begin);
  ASSIGN_OR_RETURN(Literal literal, ReadElements(source, type, end));
  reader.Rewind(after);
  return literal;
}

absl::StatusOr<Literal> ReadDenseResource(Source& source) {
  Reader& reader = source.reader;
  const size_t at = reader.position();
  RETURN_IF_ERROR(reader.Expect("<"));
  std::string name;
  if (reader.Peek() == '"') {
    ASSIGN_OR_RETURN(name, reader.String());
  } else {
    ASSIGN_OR_RETURN(name, reader.BareWord("the name of a resource"));
  }
  RETURN_IF_ERROR(reader.Expect(">"));
  ASSIGN_OR_RETURN(const Type type, ReadTypeOfElements(source));
  if (!type.IsArray() || type.HasDynamicDimension())
    return reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  ASSIGN_OR_RETURN(const std::string_view digits, source.aliases.Resource(reader, name, at));
  return FromBytes(source, type, digits, at);
}

absl::StatusOr<double> ReadDouble(Reader& reader, hlo::PrimitiveType type) {
  if (!hlo::IsFloat(type)) return reader.Expected("a float");
  double value = 0;
  absl::Status status;
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T> || hlo::kIsSmallFloat<T>) {
      T element{};
      status = ReadElement(reader, element);
      value = static_cast<double>(element);
    }
  });
  RETURN_IF_ERROR(status);
  return value;
}

absl::StatusOr<int64_t> ReadInteger(Reader& reader, hlo::PrimitiveType type) {
  ASSIGN_OR_RETURN(const WrittenInteger written, ReadWritten(reader));
  ASSIGN_OR_RETURN(const uint64_t value,
                   Wrapped(reader, written, hlo::Info(type).bits, hlo::IsUnsigned(type)));
  return static_cast<int64_t>(value);
}

}  // namespace hlod::stablehlo::text
