// Reads tensor<2x?xf32, #stablehlo.bounds<?, 4>> and other types.
#include "client/import/text/types.h"

#include <charconv>

#include "absl/strings/ascii.h"

namespace hlod::stablehlo::text {
namespace {

using hlo::PrimitiveType;

constexpr int64_t kNoBound = -1;

// Reads "2x?x" from the current position, without blanks in between. Rewinds to the part after it.
absl::Status ReadDimensions(Reader& reader, Type& type) {
  const std::string_view text = reader.text();
  for (reader.SkipBlanks();;) {
    const size_t at = reader.position();
    if (reader.Current() == '*') return reader.ErrorAt(at, "tensors of unknown rank are not supported");
    int64_t size = hlo::kUnboundedSize;
    size_t end = at + 1;
    if (reader.Current() != '?') {
      if (!absl::ascii_isdigit(reader.Current())) return absl::OkStatus();
      const auto [next, error] = std::from_chars(text.data() + at, text.data() + text.size(), size);
      if (error != std::errc()) return reader.ErrorAt(at, "this dimension does not fit 64 bits");
      end = next - text.data();
    }
    if (text.substr(end, 1) != "x") return reader.ErrorAt(end, "expected 'x' after a dimension");
    reader.Rewind(end + 1);
    if (type.rank() == hlo::kMaxRank)
      return reader.ErrorAt(at, "a tensor has more than %d dimensions, the limit", hlo::kMaxRank);
    type.dims.push_back(size);
    type.dynamic.push_back(size == hlo::kUnboundedSize);
  }
}

// Reads "[3, ?]" or "<3, ?>" after its bracket, with the closing one.
absl::Status ReadBounds(Reader& reader, std::string_view close, Type& type) {
  const size_t at = reader.position();
  hlo::Dims bounds;
  while (!reader.Try(close)) {
    if (!bounds.empty()) RETURN_IF_ERROR(reader.Expect(","));
    if (reader.Try("?")) {
      bounds.push_back(kNoBound);
    } else {
      ASSIGN_OR_RETURN(const int64_t bound, reader.Integer());
      if (bound < 0) return reader.ErrorAt(at, "the bound %d of a dimension is negative", bound);
      bounds.push_back(bound);
    }
  }
  if (bounds.size() != type.dims.size()) {
    return reader.ErrorAt(at, "found %d bounds for %d dimensions", bounds.size(), type.dims.size());
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == kNoBound) continue;
    if (!type.dynamic[i]) return reader.ErrorAt(at, "dimension %d has both a size and a bound", i);
    type.dims[i] = bounds[i];
  }
  return absl::OkStatus();
}

// Reads the part after the ',' in tensor<...>: bounds of dimensions, or an alias of them.
absl::Status ReadEncoding(Source& source, Type& type) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(const std::string_view name, reader.NameAfter('#', "#stablehlo.bounds<...>"));
  if (name == "stablehlo.bounds") {
    RETURN_IF_ERROR(reader.Expect("<"));
    return ReadBounds(reader, ">", type);
  }
  if (name == "stablehlo.type_extensions" || name == "mhlo.type_extensions") {
    for (const std::string_view expected : {"<", "bounds", "=", "["})
      RETURN_IF_ERROR(reader.Expect(expected));
    RETURN_IF_ERROR(ReadBounds(reader, "]", type));
    return reader.Expect(">");
  }
  if (name.find('.') != std::string_view::npos)
    return reader.ErrorAt(at, "expected #stablehlo.bounds<...>, found the encoding #%s", name);
  const std::string_view alias = reader.TextFrom(at);
  if (Alias* const known = source.aliases.Get(alias); known != nullptr) {
    const size_t back = reader.position();
    reader.Rewind(known->at);
    const Nested nested(source);
    RETURN_IF_ERROR(nested.status());
    RETURN_IF_ERROR(ReadEncoding(source, type));
    reader.Rewind(back);
    return absl::OkStatus();
  }
  return reader.ErrorAt(at, "the alias %s is not defined", alias);
}

// Reads "<2x3xf32, ...>" after "tensor" or "memref".
absl::StatusOr<Type> ReadArrayType(Source& source) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  Type type;
  RETURN_IF_ERROR(reader.Expect("<"));
  RETURN_IF_ERROR(ReadDimensions(reader, type));
  ASSIGN_OR_RETURN(type.type, ReadElementType(source));
  if (reader.Try(",")) RETURN_IF_ERROR(ReadEncoding(source, type));
  RETURN_IF_ERROR(reader.Expect(">"));
  if (!type.HasDynamicDimension()) type.dynamic.clear();
  RETURN_IF_ERROR(reader.At(at, hlo::ValidateShape(type)));
  return type;
}

// Reads "<type, ...>" after "tuple" or "!stablehlo.future".
absl::StatusOr<Type> ReadTuple(Source& source) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  RETURN_IF_ERROR(reader.Expect("<"));
  std::vector<Type> elements;
  if (!reader.Try(">")) {
    ASSIGN_OR_RETURN(elements, ReadTypes(source));
    RETURN_IF_ERROR(reader.Expect(">"));
  }
  Type type = Type::Tuple(std::move(elements));
  RETURN_IF_ERROR(reader.At(at, hlo::ValidateShape(type)));
  return type;
}

// Reads "!stablehlo.token" or an alias such as "!t".
absl::StatusOr<Type> ReadNamedType(Source& source) {
  Reader& reader = source.reader;
  const size_t at = reader.position();
  ASSIGN_OR_RETURN(const std::string_view name, reader.NameAfter('!', "a type"));
  if (name == "stablehlo.token" || name == "mhlo.token") return Type::Token();
  if (name == "stablehlo.future") return ReadTuple(source);
  if (name.find('.') != std::string_view::npos) {
    return reader.ErrorAt(at, "expected the type of a value, found !%s, which hlod does not have", name);
  }
  ASSIGN_OR_RETURN(Alias* const alias, source.Resolve(reader.TextFrom(at), at));
  const Type* const type = std::get_if<Type>(&alias->attribute->value);
  if (type == nullptr) return reader.ErrorAt(at, "the alias !%s is not the type of a value", name);
  if (type->IsTuple()) RETURN_IF_ERROR(source.CountAlias(at, alias->bytes));
  return *type;
}

// Returns hlo's type for a name in MLIR: "i32", "ui4", "f8E4M3FN". Returns nullopt for an unknown name.
std::optional<PrimitiveType> ByName(std::string_view name) {
  if (name == "i1") return hlo::kPred;
  if (name == "index") return hlo::kS64;
  if (name.starts_with("ui")) return hlo::ParsePrimitiveType(absl::StrCat("u", ToAbsl(name.substr(2))));
  if (name.starts_with("i")) return hlo::ParsePrimitiveType(absl::StrCat("s", ToAbsl(name.substr(1))));
  if (!name.starts_with("f") && !name.starts_with("bf")) return std::nullopt;
  for (const char c : name.substr(1)) {
    if (absl::ascii_islower(c) && name != "bf16") return std::nullopt;
  }
  return hlo::ParsePrimitiveType(absl::AsciiStrToLower(ToAbsl(name)));
}

}  // namespace

absl::StatusOr<PrimitiveType> ReadElementType(Source& source) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  if (reader.Peek() == '!') {
    return reader.ErrorAt(
        at, "expected an element type, found a type of a dialect; quantized types are not supported");
  }
  ASSIGN_OR_RETURN(const std::string_view name, reader.BareWord("an element type"));
  if (name == "complex") {
    RETURN_IF_ERROR(reader.Expect("<"));
    const size_t part_at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(const std::string_view part, reader.BareWord("f32 or f64"));
    if (part != "f32" && part != "f64")
      return reader.ErrorAt(part_at, "expected f32 or f64 in complex<...>, found %s", part);
    RETURN_IF_ERROR(reader.Expect(">"));
    return part == "f32" ? hlo::kC64 : hlo::kC128;
  }
  const std::optional<PrimitiveType> type = ByName(name);
  if (!type) return reader.ErrorAt(at, "expected an element type of HLO, found %s", name);
  return *type;
}

absl::StatusOr<Type> ReadType(Source& source) {
  Reader& reader = source.reader;
  const Nested nested(source);
  RETURN_IF_ERROR(nested.status());
  if (reader.Peek() == '!') return ReadNamedType(source);
  if (reader.TryKeyword("tensor")) return ReadArrayType(source);
  if (reader.TryKeyword("tuple")) return ReadTuple(source);
  if (reader.TryKeyword("memref")) {
    ASSIGN_OR_RETURN(Type array, ReadArrayType(source));
    Type type{.type = hlo::kBufferType};
    type.tuple.push_back(std::move(array));
    return type;
  }
  return reader.Expected("the type of a value (tensor<...>, tuple<...>, !stablehlo.token)");
}

absl::StatusOr<std::vector<Type>> ReadTypes(Source& source) {
  std::vector<Type> types;
  do {
    ASSIGN_OR_RETURN(Type type, ReadType(source));
    types.push_back(std::move(type));
  } while (source.reader.Try(","));
  return types;
}

absl::StatusOr<std::vector<Type>> ReadResultTypes(Source& source) {
  Reader& reader = source.reader;
  if (!reader.Try("(")) {
    ASSIGN_OR_RETURN(Type type, ReadType(source));
    return std::vector<Type>{std::move(type)};
  }
  if (reader.Try(")")) return std::vector<Type>();
  ASSIGN_OR_RETURN(std::vector<Type> types, ReadTypes(source));
  RETURN_IF_ERROR(reader.Expect(")"));
  return types;
}

absl::StatusOr<FunctionType> ReadFunctionType(Source& source) {
  Reader& reader = source.reader;
  if (reader.Peek() != '(') return reader.Expected("a function's type: (types) -> types");
  FunctionType type;
  ASSIGN_OR_RETURN(type.inputs, ReadResultTypes(source));
  RETURN_IF_ERROR(reader.Expect("->"));
  ASSIGN_OR_RETURN(type.results, ReadResultTypes(source));
  return type;
}

bool AtType(Reader& reader) {
  const char c = reader.Peek();
  if (c == '!' || c == '(') return true;
  const size_t at = reader.position();
  const std::string_view word = reader.MaybeWord();
  reader.Rewind(at);
  return word == "tensor" || word == "tuple" || word == "memref" || word == "complex" || word == "none" ||
         word == "tf32" || ByName(word).has_value();
}

absl::StatusOr<Attribute> ReadTypeAttribute(Source& source) {
  Reader& reader = source.reader;
  if (reader.Peek() == '(') {
    ASSIGN_OR_RETURN(FunctionType type, ReadFunctionType(source));
    return Attribute{std::move(type)};
  }
  const size_t at = reader.position();
  for (const std::string_view foreign : {"none", "tf32"}) {
    if (reader.TryKeyword(foreign)) return Attribute{Word{std::string(foreign)}};
  }
  const std::string_view word = reader.MaybeWord();
  reader.Rewind(at);
  if (!word.empty() && word != "tensor" && word != "tuple" && word != "memref") {
    ASSIGN_OR_RETURN(const PrimitiveType element, ReadElementType(source));
    return Attribute{Type::Scalar(element)};
  }
  ASSIGN_OR_RETURN(Type type, ReadType(source));
  return Attribute{std::move(type)};
}

}  // namespace hlod::stablehlo::text
