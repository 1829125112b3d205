// The table of operations, and the conversion of VHLO's attributes to StableHLO's.
#include "client/import/bytecode/operations.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/import/bytecode/fields.h"
#include "client/import/program/elements.h"

namespace hlod::stablehlo::bytecode {
namespace {

constexpr OperationRow kOperations[] = {
#define HLOD_OPERATION(dialect, name, attributes) {dialect, name, attributes},
#include "client/import/bytecode/operations.inc"
#undef HLOD_OPERATION
};
constexpr auto kByName = [](const OperationRow& a, const OperationRow& b) {
  return std::pair(a.dialect, a.name) < std::pair(b.dialect, b.name);
};
static_assert(std::ranges::is_sorted(kOperations, kByName));

bool IsWord(const Attribute& attribute, std::string_view text) {
  const Word* const word = std::get_if<Word>(&attribute.value);
  return word != nullptr && word->text == text;
}
bool IsZero(const Attribute& attribute) {
  const int64_t* const number = std::get_if<int64_t>(&attribute.value);
  return number != nullptr && *number == 0;
}
bool IsEmptyList(const Attribute& attribute) {
  const auto* const list = std::get_if<std::vector<Attribute>>(&attribute.value);
  return list != nullptr && list->empty();
}

bool IsEmptyText(const Attribute& attribute) {
  const std::string* const text = std::get_if<std::string>(&attribute.value);
  return text != nullptr && text->empty();
}

// Attributes that VHLO always has, with a test for the value that StableHLO expresses by their absence.
struct Default {
  std::string_view name;
  bool (*is_default)(const Attribute&);
};
constexpr Default kDefaults[] = {
    {"channel_id", IsZero},
    {"compare_type", [](const Attribute& type) { return IsWord(type, "NOTYPE"); }},
    {"precision_config", IsEmptyList},
    {"result_accuracy", [](const Attribute&) { return true; }},
    {"sym_visibility", IsEmptyText},
};

// The fields of a dot's algorithm: all are set, or none.
constexpr std::string_view kAlgorithm[] = {
    "accumulation_type",   "allow_imprecise_accumulation", "lhs_component_count",     "lhs_precision_type",
    "rhs_component_count", "rhs_precision_type",           "num_primitive_operations"};

void Erase(AttributeMap& attributes, std::string_view name) {
  if (const auto found = attributes.find(name); found != attributes.end()) attributes.erase(found);
}

void MakeSymbol(Attribute& attribute) {
  if (std::string* const name = std::get_if<std::string>(&attribute.value)) {
    attribute = {Symbol{std::move(*name)}};
  } else if (auto* const list = std::get_if<std::vector<Attribute>>(&attribute.value)) {
    for (Attribute& element : *list) {
      if (std::string* const text = std::get_if<std::string>(&element.value))
        element = {Symbol{std::move(*text)}};
    }
  }
}

}  // namespace

const OperationRow* FindOperation(const OperationName& name) {
  const OperationRow wanted{.dialect = name.dialect, .name = name.name};
  const auto found = std::ranges::lower_bound(kOperations, wanted, kByName);
  return found != std::end(kOperations) && !kByName(wanted, *found) ? &*found : nullptr;
}

std::string NameInProgram(const OperationRow& row, std::string_view parent) {
  if (row.dialect != "vhlo") return absl::StrCat(ToAbsl(row.dialect), ".", ToAbsl(row.name));
  const std::string_view name = row.name.substr(0, row.name.rfind("_v"));
  const bool is_of_functions =
      name == "func" || name == "call" || (name == "return" && parent == "func.func");
  return absl::StrCat(is_of_functions ? "func." : "stablehlo.", ToAbsl(name));
}

absl::Status AddToOperation(const Stream& at, std::string name, Attribute attribute, Operation& operation) {
  const bool is_constant = name == "value" && operation.name.ends_with("constant");
  if (!is_constant) MakeIntegers(attribute);
  return AddAttribute(at, std::move(name), std::move(attribute), operation.attributes);
}

void TidyAttributes(Operation& operation) {
  AttributeMap& attributes = operation.attributes;
  for (const Default& row : kDefaults) {
    const auto found = attributes.find(row.name);
    if (found != attributes.end() && row.is_default(found->second)) attributes.erase(found);
  }
  if (const auto type = attributes.find("lhs_precision_type");
      type != attributes.end() && IsWord(type->second, "none")) {
    for (const std::string_view name : kAlgorithm) Erase(attributes, name);
  }
  for (const std::string_view name : {"callee", "called_computations", "decomposition"}) {
    if (const auto found = attributes.find(name); found != attributes.end()) MakeSymbol(found->second);
  }
}

}  // namespace hlod::stablehlo::bytecode
