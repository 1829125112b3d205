// Reads the values of aliases once, where they are defined, and measures them.
#include <algorithm>

#include "client/import/text/attributes/attributes.h"
#include "client/import/text/location.h"
#include "client/import/text/source.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

// The depth of nesting in an attribute, and the bytes of a copy.
struct Extent {
  int depth = 0;
  int64_t bytes = 0;
};
Extent ExtentOf(const Attribute& attribute) {
  Extent extent{.depth = 1, .bytes = sizeof(Attribute)};
  const auto add = [&](const Attribute& part) {
    const Extent inner = ExtentOf(part);
    extent.depth = std::max(extent.depth, 1 + inner.depth);
    extent.bytes += inner.bytes;
  };
  if (const auto* list = std::get_if<std::vector<Attribute>>(&attribute.value)) {
    for (const Attribute& element : *list) add(element);
  } else if (const auto* map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value)) {
    for (const auto& [name, element] : **map) add(element);
  } else if (const auto* literal = std::get_if<hlo::Literal>(&attribute.value)) {
    extent.bytes += literal->bytes().size();
  } else if (const auto* splat = std::get_if<Splat>(&attribute.value)) {
    extent.bytes += splat->element.bytes().size() + sizeof(Type);
  } else if (const auto* type = std::get_if<Type>(&attribute.value)) {
    extent.bytes += hlo::NodeCount(*type) * static_cast<int64_t>(sizeof(Type));
  } else if (const auto* integers = std::get_if<Integers>(&attribute.value)) {
    extent.bytes += integers->size() * sizeof(int64_t);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    extent.bytes += text->size();
  } else if (const auto* word = std::get_if<Word>(&attribute.value)) {
    extent.bytes += word->text.size();
  } else if (const auto* function = std::get_if<FunctionType>(&attribute.value)) {
    for (const std::vector<Type>* types : {&function->inputs, &function->results}) {
      for (const Type& part : *types)
        extent.bytes += hlo::NodeCount(part) * static_cast<int64_t>(sizeof(Type));
    }
  }
  return extent;
}

// Reads the value, at the current position, of an alias with this sign.
absl::Status ReadValue(Source& source, char sign, Alias& alias) {
  const size_t at = (source.reader.SkipBlanks(), source.reader.position());
  if (sign == '#' && source.reader.TryKeyword("loc")) {
    source.reader.Rewind(at);
    return ReadOptionalLocation(source, alias.location.emplace());
  }
  if (sign == '!') {
    ASSIGN_OR_RETURN(alias.attribute, ReadTypeAttribute(source));
  } else {
    ASSIGN_OR_RETURN(alias.attribute, ReadAttribute(source));
  }
  const Extent extent = ExtentOf(*alias.attribute);
  // The Attribute object itself is not counted.
  alias.bytes = extent.bytes - static_cast<int64_t>(sizeof(Attribute));
  alias.depth = extent.depth;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Alias*> Source::Resolve(std::string_view name, size_t at) {
  Alias* const alias = aliases.Get(name);
  if (alias == nullptr) return reader.ErrorAt(at, "the alias %s is not defined", name);
  if (alias->is_being_read) return reader.ErrorAt(at, "the alias %s is defined by itself", name);
  if (alias->end > 0) return alias;
  const Nested nested(*this);
  RETURN_IF_ERROR(nested.status());
  const size_t back = reader.position();
  alias->is_being_read = true;
  reader.Rewind(alias->at);
  RETURN_IF_ERROR(ReadValue(*this, name[0], *alias));
  alias->end = reader.position();
  alias->is_being_read = false;
  reader.Rewind(back);
  return alias;
}

}  // namespace hlod::stablehlo::text
