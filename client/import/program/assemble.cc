// Builds functions from func.func, and checks what the generic form and bytecode may get wrong.
#include "client/import/program/assemble.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "common/base/errors/status.h"

namespace hlod::stablehlo {
namespace {

// Returns an error with the operation's line and column in the text.
template <typename... Args>
absl::Status ErrorAbout(const Operation& operation, const absl::FormatSpec<Args...>& format,
                        const Args&... args) {
  const std::string text = absl::StrFormat(format, args...);
  const Location& at = operation.location;
  if (at.read_line == 0) return absl::InvalidArgumentError(text);
  return InvalidArgument("%d:%d: %s", at.read_line, at.read_column, text);
}

// Removes the attribute `name` from the attributes and returns it; nullopt unless it is a T.
template <typename T>
std::optional<T> Take(AttributeMap& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return std::nullopt;
  T* const value = std::get_if<T>(&found->second.value);
  if (value == nullptr) return std::nullopt;
  std::optional<T> taken = std::move(*value);
  attributes.erase(found);
  return taken;
}

// Removes arg_attrs or res_attrs: absent, or one dictionary per value.
absl::StatusOr<std::vector<AttributeMap>> TakeValueAttributes(Operation& operation, std::string_view name,
                                                              size_t count) {
  std::vector<AttributeMap> maps(count);
  const auto list = Take<std::vector<Attribute>>(operation.attributes, name);
  if (!list || list->empty()) return maps;
  if (list->size() != count)
    return ErrorAbout(operation, "%s has attributes for %d values, but the function has %d", name,
                      list->size(), count);
  for (size_t i = 0; i < count; ++i) {
    const auto* map = std::get_if<std::shared_ptr<AttributeMap>>(&(*list)[i].value);
    if (map == nullptr) return ErrorAbout(operation, "expected dictionaries in %s", name);
    maps[i] = **map;
  }
  return maps;
}

absl::StatusOr<Function> FunctionFrom(Operation operation) {
  AttributeMap& attributes = operation.attributes;
  std::optional<std::string> name = Take<std::string>(attributes, "sym_name");
  std::optional<FunctionType> type = Take<FunctionType>(attributes, "function_type");
  if (!name || !type) return ErrorAbout(operation, "expected sym_name and function_type of func.func");
  Function function{.name = *std::move(name), .type = *std::move(type)};
  if (const auto visibility = Take<std::string>(attributes, "sym_visibility"))
    function.is_public = *visibility == "public";
  ASSIGN_OR_RETURN(function.argument_attributes,
                   TakeValueAttributes(operation, "arg_attrs", function.type.inputs.size()));
  ASSIGN_OR_RETURN(function.result_attributes,
                   TakeValueAttributes(operation, "res_attrs", function.type.results.size()));
  const bool has_body = operation.regions.size() == 1 && !operation.regions[0].blocks.empty() &&
                        !operation.regions[0].blocks[0].operations.empty();
  // A declaration is never public.
  if (!has_body && operation.regions.size() <= 1 && !function.is_public) return function;
  if (!has_body) return ErrorAbout(operation, "the function @%s has no body", function.name);
  function.body = std::move(operation.regions[0]);
  const std::vector<Value>& arguments = function.body.blocks[0].arguments;
  const std::vector<Type>& inputs = function.type.inputs;
  if (!std::ranges::equal(arguments, inputs, {}, &Value::type))
    return ErrorAbout(operation, "the arguments of @%s differ from the types of its function_type",
                      function.name);
  return function;
}

}  // namespace

absl::Status AddToProgram(Operation operation, Program& program) {
  if (operation.name == "func.func") {
    ASSIGN_OR_RETURN(Function function, FunctionFrom(std::move(operation)));
    program.functions.push_back(std::move(function));
    return absl::OkStatus();
  }
  if (operation.name != "builtin.module") {
    program.others.push_back(std::move(operation));
    return absl::OkStatus();
  }
  if (!program.functions.empty() || !program.others.empty() || !program.attributes.empty() ||
      !program.name.empty())
    return ErrorAbout(operation, "found a second module, expected one");
  if (operation.regions.size() != 1 || operation.regions[0].blocks.empty())
    return ErrorAbout(operation, "the module has no body");
  program.name = Take<std::string>(operation.attributes, "sym_name").value_or("");
  program.attributes = std::move(operation.attributes);
  for (Operation& inner : operation.regions[0].blocks[0].operations) {
    if (inner.name == "builtin.module") return ErrorAbout(inner, "modules within modules are not supported");
    RETURN_IF_ERROR(AddToProgram(std::move(inner), program));
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const Program& program) {
  absl::flat_hash_set<std::string_view> names;
  for (const Function& function : program.functions) {
    if (!names.insert(function.name).second)
      return InvalidArgument("The function @%s is defined twice.", function.name);
  }
  return absl::OkStatus();
}

}  // namespace hlod::stablehlo
