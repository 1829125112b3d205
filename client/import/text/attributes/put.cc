// Converts an attribute to the forms of operation.h: flat, and with lists of integers.
#include "absl/strings/str_cat.h"
#include "client/import/program/elements.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/attributes/structures.h"

namespace hlod::stablehlo::text {
absl::Status Put(Source& source, std::string_view operation, std::string_view name, Attribute attribute,
                 size_t at, AttributeMap& attributes) {
  const bool is_constant = name == "value" && operation.ends_with("constant");
  if (!is_constant) MakeIntegers(attribute);
  if (const auto* fields = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value);
      fields != nullptr && !operation.empty() && IsFlattened(name)) {
    for (const auto& [field, value] : **fields) {
      if (!attributes.emplace(field, value).second)
        return source.reader.ErrorAt(at, "the attribute %s occurs twice", field);
    }
    return absl::OkStatus();
  }
  // An api_version is an enumerator, though it is written as its number.
  if (const auto* version = std::get_if<int64_t>(&attribute.value);
      version != nullptr && name == "api_version" && !operation.empty()) {
    attribute = {Word{absl::StrCat(*version)}};
  }
  if (attributes.emplace(name, std::move(attribute)).second) return absl::OkStatus();
  return source.reader.ErrorAt(at, "the attribute %s occurs twice", name);
}

}  // namespace hlod::stablehlo::text
