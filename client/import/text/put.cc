// How an attribute becomes one of operation.h: flat, and with lists of integers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/import/text/attributes.h"
#include "client/import/text/structures.h"

namespace hlod::stablehlo::text {
namespace {

// The elements of a literal of integers or bools.
Integers ElementsOf(const hlo::Literal& literal) {
  Integers integers;
  hlo::VisitType(literal.shape().type, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) integers.assign(literal.data<T>().begin(), literal.data<T>().end());
    if constexpr (hlo::kIsSmallInt<T>) {
      for (const T value : literal.data<T>()) integers.push_back(static_cast<int>(value));
    }
  });
  return integers;
}

// A list whose elements are all integers of one type, or all bools; else nothing.
std::optional<Attribute> AsIntegers(const std::vector<Attribute>& list) {
  if (list.empty()) return std::nullopt;
  Integers integers;
  for (const Attribute& element : list) {
    if (element.type != list[0].type) return std::nullopt;
    if (const auto* integer = std::get_if<int64_t>(&element.value)) {
      integers.push_back(*integer);
    } else if (const auto* flag = std::get_if<bool>(&element.value)) {
      integers.push_back(*flag);
    } else {
      return std::nullopt;
    }
  }
  return Attribute{.value = std::move(integers), .type = list[0].type};
}

// Literals of integers and of one dimension, and lists of integers, as Integers, all the way down.
void MakeIntegers(Attribute& attribute) {
  if (const auto* literal = std::get_if<hlo::Literal>(&attribute.value)) {
    const hlo::PrimitiveType type = literal->shape().type;
    if (literal->shape().rank() == 1 && (hlo::IsInteger(type) || type == hlo::kPred))
      attribute = {.value = ElementsOf(*literal), .type = type};
  } else if (auto* list = std::get_if<std::vector<Attribute>>(&attribute.value)) {
    for (Attribute& element : *list) MakeIntegers(element);
    if (std::optional<Attribute> integers = AsIntegers(*list)) attribute = *std::move(integers);
  } else if (auto* map = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value)) {
    for (auto& [name, element] : **map) MakeIntegers(element);
  }
}

}  // namespace

absl::Status Put(Source& source, std::string_view operation, std::string_view name, Attribute attribute,
                 size_t at, AttributeMap& attributes) {
  const bool is_constant = name == "value" && operation.ends_with("constant");
  if (!is_constant) MakeIntegers(attribute);
  if (const auto* fields = std::get_if<std::shared_ptr<AttributeMap>>(&attribute.value);
      fields != nullptr && !operation.empty() && IsFlattened(name)) {
    for (const auto& [field, value] : **fields) {
      if (!attributes.emplace(field, value).second)
        return source.reader.ErrorAt(at, "the attribute %s is stated a second time", field);
    }
    return absl::OkStatus();
  }
  // One of a list, though it is written as its number.
  if (const auto* version = std::get_if<int64_t>(&attribute.value);
      version != nullptr && name == "api_version" && !operation.empty()) {
    attribute = {Word{absl::StrCat(*version)}};
  }
  if (attributes.emplace(name, std::move(attribute)).second) return absl::OkStatus();
  return source.reader.ErrorAt(at, "the attribute %s is stated a second time", name);
}

}  // namespace hlod::stablehlo::text
