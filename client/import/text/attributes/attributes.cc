// Reads numbers, strings, lists, dictionaries, aliases.
#include "client/import/text/attributes/attributes.h"

#include "client/import/text/attributes/dense.h"
#include "client/import/text/attributes/element.h"
#include "client/import/text/attributes/structures.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

using hlo::PrimitiveType;

// Reads "3 : i32", "-2.5e+00 : f32", "0x7FC00000 : f32", "7": the type after the number determines its
// meaning.
absl::StatusOr<Attribute> ReadNumber(Source& source) {
  Reader& reader = source.reader;
  const size_t begin = (reader.SkipBlanks(), reader.position());
  bool is_float = AtDecimalFloat(reader);
  PrimitiveType type = is_float ? hlo::kF64 : hlo::kS64;
  // Skips the number to read its type first.
  RETURN_IF_ERROR(is_float ? ReadDecimalFloat(reader).status() : ReadWritten(reader).status());
  size_t end = reader.position();
  if (reader.Try(":")) {
    ASSIGN_OR_RETURN(type, ReadElementType(source));
    end = reader.position();
    if (is_float && !hlo::IsFloat(type))
      return reader.ErrorAt(begin, "a number with a point is not a %s", Name(type));
    is_float = hlo::IsFloat(type);
  }
  reader.Rewind(begin);
  Attribute attribute{.type = type};
  if (is_float) {
    ASSIGN_OR_RETURN(attribute.value, ReadDouble(reader, type));
  } else if (hlo::IsInteger(type) || type == hlo::kPred) {
    ASSIGN_OR_RETURN(const int64_t value, ReadInteger(reader, type));
    if (type == hlo::kPred) {
      attribute.value = value != 0;
    } else {
      attribute.value = value;
    }
  } else {
    return reader.ErrorAt(begin, "one of the numbers is not a %s", Name(type));
  }
  reader.Rewind(end);
  return attribute;
}

// Reads an integer, or a bool as 0 or 1.
absl::Status AppendInteger(Reader& reader, PrimitiveType type, Integers& integers) {
  if (type == hlo::kPred) {
    bool value = false;
    RETURN_IF_ERROR(ReadElement(reader, value));
    integers.push_back(value);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const int64_t value, ReadInteger(reader, type));
  integers.push_back(value);
  return absl::OkStatus();
}

// Reads "<i64: 1, 2>" after "array": integers, bools, or a list of floats.
absl::StatusOr<Attribute> ReadArrayAttribute(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("<"));
  const size_t at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(const PrimitiveType type, ReadElementType(source));
  const bool is_float = hlo::IsFloat(type);
  if (!is_float && type != hlo::kPred && !hlo::IsInteger(type))
    return reader.ErrorAt(at, "array<...> must have integers or floats, found %s", Name(type));
  Integers integers;
  std::vector<Attribute> floats;
  if (reader.Try(":")) {
    do {
      if (is_float) {
        ASSIGN_OR_RETURN(const double value, ReadDouble(reader, type));
        floats.push_back({.value = value, .type = type});
      } else {
        RETURN_IF_ERROR(AppendInteger(reader, type, integers));
      }
    } while (reader.Try(","));
  }
  RETURN_IF_ERROR(reader.Expect(">"));
  if (is_float) return Attribute{.value = std::move(floats), .type = type};
  return Attribute{.value = std::move(integers), .type = type};
}

absl::StatusOr<Attribute> ReadList(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("["));
  std::vector<Attribute> list;
  while (!reader.Try("]")) {
    if (!list.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(Attribute element, ReadAttribute(source));
    list.push_back(std::move(element));
  }
  return Attribute{std::move(list)};
}

// Reads "#map", or an attribute of a dialect: "#stablehlo.dot<...>", "#stablehlo<precision HIGH>".
absl::StatusOr<Attribute> ReadNamed(Source& source) {
  Reader& reader = source.reader;
  const size_t at = reader.position();
  ASSIGN_OR_RETURN(const std::string_view name, reader.NameAfter('#', "an attribute"));
  if (reader.Current() == '<' || name.find('.') != std::string_view::npos) {
    return ReadDialectAttribute(source, name, at);
  }
  ASSIGN_OR_RETURN(Alias* const alias, source.Resolve(reader.TextFrom(at), at));
  if (!alias->attribute) return reader.ErrorAt(at, "the alias #%s is a location", name);
  if (source.depth + alias->depth > kMaxNesting)
    return reader.ErrorAt(at, "the nesting exceeds the limit of %d levels here", kMaxNesting);
  RETURN_IF_ERROR(source.CountAlias(at, alias->bytes));
  return *alias->attribute;
}

// Reads an attribute that begins with a word.
absl::StatusOr<Attribute> ReadByKeyword(Source& source) {
  Reader& reader = source.reader;
  const size_t at = reader.position();
  if (reader.TryKeyword("true")) return Attribute{.value = true, .type = hlo::kPred};
  if (reader.TryKeyword("false")) return Attribute{.value = false, .type = hlo::kPred};
  if (reader.TryKeyword("unit")) return Attribute{};
  if (reader.TryKeyword("array")) return ReadArrayAttribute(source);
  if (reader.TryKeyword("dense")) return ReadDense(source);
  if (reader.TryKeyword("dense_resource")) return ReadDenseResource(source);
  if (reader.TryKeyword("loc")) {
    RETURN_IF_ERROR(reader.Balanced('(').status());
    return Attribute{Word{std::string(reader.TextFrom(at))}};
  }
  for (const std::string_view opaque : {"affine_map", "affine_set", "strided"}) {
    if (!reader.TryKeyword(opaque)) continue;
    RETURN_IF_ERROR(reader.Balanced('<').status());
    return Attribute{Word{std::string(reader.TextFrom(at))}};
  }
  if (AtType(reader)) return ReadTypeAttribute(source);
  return reader.Expected("an attribute");
}

}  // namespace

absl::StatusOr<Attribute> ReadAttribute(Source& source) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.status());
  Reader& reader = source.reader;
  switch (reader.Peek()) {
    case '"': {
      ASSIGN_OR_RETURN(std::string text, reader.String());
      // A string may have a type, which is ignored.
      if (reader.Try(":")) RETURN_IF_ERROR(ReadTypeAttribute(source).status());
      return Attribute{std::move(text)};
    }
    case '@': {
      ASSIGN_OR_RETURN(std::string name, reader.SymbolName());
      return Attribute{Symbol{std::move(name)}};
    }
    case '[': return ReadList(source);
    case '{': {
      auto map = std::make_shared<AttributeMap>();
      RETURN_IF_ERROR(ReadAttributeMap(source, "", *map));
      return Attribute{std::move(map)};
    }
    case '#': return ReadNamed(source);
    case '!':
    case '(': return ReadTypeAttribute(source);
    default: break;
  }
  if (reader.AtWord()) return ReadByKeyword(source);
  if (reader.Peek() == '-' || absl::ascii_isdigit(reader.Peek())) return ReadNumber(source);
  return reader.Expected("an attribute");
}

absl::Status ReadAttributeMap(Source& source, std::string_view operation, AttributeMap& attributes) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("{"));
  while (!reader.Try("}")) {
    const size_t at = (reader.SkipBlanks(), reader.position());
    std::string name;
    if (reader.Peek() == '"') {
      ASSIGN_OR_RETURN(name, reader.String());
    } else {
      ASSIGN_OR_RETURN(name, reader.BareWord("the name of an attribute, or '}'"));
    }
    Attribute attribute;  // A unit attribute.
    if (reader.Try("=")) {
      source.splat_bytes_max = name == "value" ? kMaxSplatBytes : kMaxListBytes;
      absl::StatusOr<Attribute> read = ReadAttribute(source);
      source.splat_bytes_max = kMaxSplatBytes;
      RETURN_IF_ERROR(read.status());
      attribute = *std::move(read);
    }
    RETURN_IF_ERROR(Put(source, operation, name, std::move(attribute), at, attributes));
    if (!reader.Try(",") && reader.Peek() != '}') return reader.Expected("',' or '}'");
  }
  return absl::OkStatus();
}

absl::StatusOr<Attribute> ReadIntegers(Source& source, PrimitiveType type) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("["));
  Integers integers;
  while (!reader.Try("]")) {
    if (!integers.empty()) RETURN_IF_ERROR(reader.Expect(","));
    RETURN_IF_ERROR(AppendInteger(reader, type, integers));
  }
  return Attribute{.value = std::move(integers), .type = type};
}

absl::StatusOr<Attribute> ReadWords(Source& source) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("["));
  std::vector<Attribute> words;
  while (!reader.Try("]")) {
    if (!words.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(const std::string_view word, reader.BareWord("a word"));
    words.push_back({Word{std::string(word)}});
  }
  return Attribute{std::move(words)};
}

}  // namespace hlod::stablehlo::text
