// Finds an attribute by its index and reads it by its dialect.
#include "client/import/bytecode/attributes.h"

#include "client/import/bytecode/fields.h"
#include "client/import/text/attributes/attributes.h"

namespace hlod::stablehlo::bytecode {
namespace {

struct AttributeDialect {
  std::string_view name;
  absl::StatusOr<Attribute> (*read)(Source&, uint64_t code, Stream&);
};
constexpr AttributeDialect kDialects[] = {
    {"builtin", ReadBuiltinAttribute}, {"vhlo", ReadVhloAttribute}, {"sdy", ReadShardyAttribute}};

// Returns the bytes that a copy takes; nested attributes were counted when they were read.
struct OwnBytes {
  int64_t operator()(const std::string& text) const { return static_cast<int64_t>(text.size()); }
  int64_t operator()(const Word& word) const { return static_cast<int64_t>(word.text.size()); }
  int64_t operator()(const Symbol& symbol) const { return static_cast<int64_t>(symbol.name.size()); }
  int64_t operator()(const Integers& values) const {
    return static_cast<int64_t>(values.size() * sizeof(int64_t));
  }
  int64_t operator()(const hlo::Literal& literal) const {
    return static_cast<int64_t>(literal.bytes().size());
  }
  template <typename T>
  int64_t operator()(const T&) const {
    return 0;
  }
};

// Reads an attribute that its dialect writes as text.
absl::StatusOr<Attribute> ReadAsText(Stream in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const std::string_view written, in.NullTerminated("the text of an attribute"));
  RETURN_IF_ERROR(in.End("the text of an attribute"));
  text::Source source(written);
  absl::StatusOr<Attribute> attribute = text::ReadAttribute(source);
  RETURN_IF_ERROR(before.ErrorAt(before.position(), attribute.status()));
  return attribute;
}

absl::StatusOr<Attribute> ReadAttributeEntry(Source& source, const Entry& entry) {
  if (!entry.is_custom) return ReadAsText(entry.bytes);
  Stream in = entry.bytes;
  for (const AttributeDialect& dialect : kDialects) {
    if (dialect.name != entry.dialect) continue;
    ASSIGN_OR_RETURN(const uint64_t code, in.Number());
    ASSIGN_OR_RETURN(Attribute attribute, dialect.read(source, code, in));
    RETURN_IF_ERROR(in.End("an attribute"));
    return attribute;
  }
  return in.Refused("attributes of the dialect %s are not supported", entry.dialect);
}

}  // namespace

absl::StatusOr<Attribute> ReadAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const uint64_t index, in.Number());
  return FindAttribute(source, before, index);
}

absl::StatusOr<Attribute> FindAttribute(Source& source, const Stream& at, uint64_t index) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.Check(at));
  RETURN_IF_ERROR(at.CheckIndex(index, source.is_used.size(), "attribute"));
  ASSIGN_OR_RETURN(Attribute attribute, ReadAttributeEntry(source, source.container.attributes[index]));
  if (source.is_used[index]) {
    const int64_t bytes = static_cast<int64_t>(sizeof(Attribute)) + std::visit(OwnBytes(), attribute.value);
    RETURN_IF_ERROR(source.Charge(at, bytes));
  }
  source.is_used[index] = true;
  return attribute;
}

absl::StatusOr<std::string> ReadStringAttribute(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(Attribute attribute, ReadAttribute(source, in));
  if (std::string* const text = std::get_if<std::string>(&attribute.value)) return std::move(*text);
  return before.Error("expected a string");
}

absl::StatusOr<std::vector<Attribute>> ReadAttributes(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("attributes"));
  std::vector<Attribute> attributes;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(Attribute attribute, ReadAttribute(source, in));
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

absl::StatusOr<AttributeMap> ReadDictionary(Source& source, Stream& in) {
  const Stream before = in;
  ASSIGN_OR_RETURN(Attribute attribute, ReadAttribute(source, in));
  if (const auto* map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value)) return std::move(**map);
  return before.Error("expected a dictionary");
}

}  // namespace hlod::stablehlo::bytecode
