// Reads attributes of MLIR's builtin dialect.
#include "absl/strings/str_cat.h"
#include "client/import/bytecode/attributes.h"
#include "client/import/bytecode/fields.h"
#include "client/import/bytecode/types.h"
#include "client/import/program/elements.h"

namespace hlod::stablehlo::bytecode {
namespace {

using Result = absl::StatusOr<Attribute>;

Result ReadTextWithType(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(Attribute text, ReadTextAttribute(source, in));
  RETURN_IF_ERROR(ReadTypeEntry(source, in).status());
  return text;
}

Result ReadSymbol(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(std::string name, ReadStringAttribute(source, in));
  return Attribute{Symbol{std::move(name)}};
}

Result ReadNestedSymbol(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(std::string name, ReadStringAttribute(source, in));
  ASSIGN_OR_RETURN(const std::vector<Attribute> nested, ReadAttributes(source, in));
  for (const Attribute& part : nested) {
    const Symbol* const symbol = std::get_if<Symbol>(&part.value);
    if (symbol == nullptr) return in.Error("expected a symbol");
    absl::StrAppend(&name, "::@", symbol->name);
  }
  return Attribute{Symbol{std::move(name)}};
}

Result ReadUnit(Source&, Stream&) { return Attribute{}; }

// Reads an element type, a count, and the bytes of the elements.
Result ReadDenseArray(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const hlo::PrimitiveType type, ReadElementType(source, in));
  ASSIGN_OR_RETURN(const uint64_t count, in.Number());
  ASSIGN_OR_RETURN(const std::string_view bytes, ReadBlob(in));
  const size_t width = hlo::ByteWidth(type);
  if (bytes.size() / width != count || bytes.size() % width != 0)
    return before.Error("%d bytes do not fit %d elements of %s", bytes.size(), count, Name(type));
  absl::StatusOr<hlo::Literal> literal =
      LiteralFromBytes(hlo::Shape::Array(type, {static_cast<int64_t>(count)}), bytes);
  RETURN_IF_ERROR(before.ErrorAt(before.position(), literal.status()));
  Attribute attribute{*std::move(literal)};
  if (!hlo::IsFloat(type)) {
    MakeIntegers(attribute);
    return attribute;
  }
  std::vector<Attribute> floats;
  const hlo::Literal& elements = std::get<hlo::Literal>(attribute.value);
  for (int64_t i = 0; i < elements.element_count(); ++i)
    floats.push_back({.value = hlo::ElementAsDouble(elements, i), .type = type});
  return Attribute{.value = std::move(floats), .type = type};
}

// Locations are not kept as attributes: skips their bytes.
Result ReadLocationAttribute(Source&, Stream& in) {
  RETURN_IF_ERROR(in.Bytes(in.left(), "a location").status());
  return Attribute{Word{"loc(unknown)"}};
}

constexpr Kind kBuiltinKinds[] = {
    {0, ReadArrayAttribute},
    {1, ReadMapAttribute},
    {2, ReadTextAttribute},
    {3, ReadTextWithType},
    {4, ReadSymbol},
    {5, ReadNestedSymbol},
    {6, ReadTypeAttribute},
    {7, ReadUnit},
    {8, ReadIntegerAttribute},
    {9, ReadFloatAttribute},
    {10, ReadLocationAttribute},
    {11, ReadLocationAttribute},
    {12, ReadLocationAttribute},
    {13, ReadLocationAttribute},
    {14, ReadLocationAttribute},
    {15, ReadLocationAttribute},
    {16, nullptr, "dense resources"},
    {17, ReadDenseArray},
    {18, ReadDenseAttribute},
    {19, nullptr, "tensors of strings"},
    {20, nullptr, "sparse tensors"},
    {21, nullptr, "distinct attributes"},
    {22, ReadLocationAttribute},
};

}  // namespace

absl::StatusOr<Attribute> ReadBuiltinAttribute(Source& source, uint64_t code, Stream& in) {
  return ReadByKind(kBuiltinKinds, "builtin", code, source, in);
}

}  // namespace hlod::stablehlo::bytecode
