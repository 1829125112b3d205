// Functions from func.func, with what the generic form may get wrong.
#include "client/import/text/program.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace hlod::stablehlo::text {
namespace {

// An error about an operation that was read.
template <typename... Args>
absl::Status ErrorAbout(const Operation& operation, const absl::FormatSpec<Args...>& format,
                        const Args&... args) {
  return InvalidArgument("%d:%d: %s", operation.location.read_line, operation.location.read_column,
                         absl::StrFormat(format, args...));
}

// The attribute `name` if it is a T; it is no longer among the attributes then.
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

// arg_attrs or res_attrs: none, or a dictionary a value.
absl::StatusOr<std::vector<AttributeMap>> TakeValueAttributes(Operation& operation, std::string_view name,
                                                              size_t count) {
  std::vector<AttributeMap> maps(count);
  const auto list = Take<std::vector<Attribute>>(operation.attributes, name);
  if (!list || list->empty()) return maps;
  if (list->size() != count)
    return ErrorAbout(operation, "%s has attributes of %d values, the function has %d", name, list->size(),
                      count);
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
  if (operation.regions.size() != 1 || operation.regions[0].blocks[0].operations.empty())
    return ErrorAbout(operation, "the function @%s has no body", function.name);
  function.body = std::move(operation.regions[0]);
  const std::vector<Value>& arguments = function.body.blocks[0].arguments;
  const std::vector<Type>& inputs = function.type.inputs;
  if (!std::ranges::equal(arguments, inputs, {}, &Value::type))
    return ErrorAbout(operation, "the arguments of @%s are not of the types of its function_type",
                      function.name);
  return function;
}

// Adds an operation of the top level to the program: a builtin.module with all it has, a func.func, another.
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
    return ErrorAbout(operation, "a second module; expected one");
  if (operation.regions.size() != 1) return ErrorAbout(operation, "the module has no body");
  program.name = Take<std::string>(operation.attributes, "sym_name").value_or("");
  program.attributes = std::move(operation.attributes);
  for (Operation& inner : operation.regions[0].blocks[0].operations) {
    if (inner.name == "builtin.module") return ErrorAbout(inner, "modules within modules are not supported");
    RETURN_IF_ERROR(AddToProgram(std::move(inner), program));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Program> ReadProgram(Source& source) {
  Reader& reader = source.reader;
  Program program;
  while (!reader.AtEnd()) {
    const char next = reader.Peek();
    if (next == '#' || next == '!') {
      const size_t at = reader.position();
      RETURN_IF_ERROR(reader.NameAfter(next, "an alias").status());
      const std::string_view name = reader.TextFrom(at);
      RETURN_IF_ERROR(reader.Expect("="));
      // Definitions were found at the beginnings of lines; going on after another one would never end.
      const Alias* const found = source.aliases.Get(name);
      if (found == nullptr || found->at != reader.position())
        return reader.ErrorAt(at, "the definition of %s does not begin a line", name);
      ASSIGN_OR_RETURN(const Alias* const alias, source.Resolve(name, at));
      reader.Rewind(alias->end);
    } else if (reader.Try("{-#")) {
      RETURN_IF_ERROR(source.aliases.ReadResources(reader));
    } else {
      ASSIGN_OR_RETURN(Operation operation, ReadOperation(source));
      RETURN_IF_ERROR(AddToProgram(std::move(operation), program));
    }
  }
  absl::flat_hash_set<std::string_view> names;
  for (const Function& function : program.functions) {
    if (!names.insert(function.name).second)
      return InvalidArgument("The function @%s is defined a second time.", function.name);
  }
  program.values = source.values.count();
  return program;
}

}  // namespace hlod::stablehlo::text
