// Reads nested lists, splats and bytes into a literal. Its type is stated after the elements.
#include "client/import/text/attributes/dense.h"

#include <algorithm>
#include <utility>

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

// Expands a splat unless it is large. Charges the bytes that the text does not have.
absl::StatusOr<Attribute> Repeat(Source& source, Splat splat, size_t at) {
  const std::optional<int64_t> bytes = hlo::ByteSize(splat.type);
  if (!bytes)
    return source.reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(splat.type));
  RETURN_IF_ERROR(source.CheckSplat(at, *bytes));
  if (IsLargeSplat(splat.type)) return Attribute{std::move(splat)};
  RETURN_IF_ERROR(source.CountSplat(at, *bytes));
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(splat.type, kMaxSplatBytes));
  if (*bytes > 0) std::ranges::copy(splat.element.bytes(), literal.bytes().begin());
  RepeatFirst(literal);
  return Attribute{std::move(literal)};
}

// Returns the elements of `type` from their bytes. Charges the bytes that the text does not have.
absl::StatusOr<Attribute> FromBytes(Source& source, const Type& type, std::string_view digits, size_t at) {
  Reader& reader = source.reader;
  ASSIGN_OR_RETURN(const std::string bytes, FromHex(reader, digits, at));
  if (IsLargeSplat(type) && bytes.size() == static_cast<size_t>(hlo::ByteWidth(type.type))) {
    absl::StatusOr<Splat> splat = SplatFromBytes(type, bytes);
    RETURN_IF_ERROR(reader.At(at, splat.status()));
    return Repeat(source, *std::move(splat), at);
  }
  const std::optional<int64_t> size = hlo::ByteSize(type);
  if (!size) return reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  if (*size > static_cast<int64_t>(bytes.size())) {
    RETURN_IF_ERROR(source.CheckSplat(at, *size));
    RETURN_IF_ERROR(source.CountSplat(at, *size));
  }
  absl::StatusOr<Literal> literal = LiteralFromBytes(type, bytes);
  RETURN_IF_ERROR(reader.At(at, literal.status()));
  return Attribute{*std::move(literal)};
}

// Reads the elements of `type` from the text that ends at `end`.
absl::StatusOr<Attribute> ReadElements(Source& source, const Type& type, size_t end) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  const std::optional<int64_t> count = hlo::ElementCount(type);
  if (!count || type.HasDynamicDimension() || !type.IsArray())
    return reader.ErrorAt(at, "literals of the type %s are not supported", hlo::ToString(type));
  if (at == end) {
    if (*count == 0) return Attribute{Literal(type)};
    return reader.ErrorAt(at, "expected %d elements, found none", *count);
  }
  const bool is_splat = reader.Peek() != '[';
  // Each element takes a character: a large type over a short text is refused before memory is allocated.
  if (!is_splat && *count > static_cast<int64_t>(end - at))
    return reader.ErrorAt(at, "expected %d elements, found fewer", *count);
  const Type written = is_splat ? Type::Scalar(type.type) : type;
  ASSIGN_OR_RETURN(Literal literal, Literal::Make(written, INT64_MAX));
  absl::Status status;
  hlo::VisitType(type.type, [&]<typename T>() {
    T* next = literal.data<T>().data();
    auto read = [&] { return ReadElement(reader, *next++); };
    status = ReadList(reader, written.dims, 0, read);
  });
  RETURN_IF_ERROR(status);
  reader.SkipBlanks();
  if (reader.position() != end) return reader.Expected("'>' after the elements");
  return is_splat ? Repeat(source, {std::move(literal), type}, at) : Attribute{std::move(literal)};
}

// Reads ": type" after the elements.
absl::StatusOr<Type> ReadTypeOfElements(Source& source) {
  RETURN_IF_ERROR(source.reader.Expect(":"));
  return ReadType(source);
}

}  // namespace

absl::StatusOr<Attribute> ReadDense(Source& source) {
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
  ASSIGN_OR_RETURN(Attribute elements, ReadElements(source, type, end));
  reader.Rewind(after);
  return elements;
}

absl::StatusOr<Attribute> ReadDenseResource(Source& source) {
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
