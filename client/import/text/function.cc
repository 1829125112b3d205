// Reads the pretty forms of func.func and module.
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/forms.h"
#include "client/import/text/location.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

// Reads the optional "{attributes}" of an argument or a result.
absl::StatusOr<Attribute> ReadValueAttributes(Source& source) {
  auto attributes = std::make_shared<AttributeMap>();
  if (source.reader.Peek() == '{') RETURN_IF_ERROR(ReadAttributeMap(source, "func.func", *attributes));
  return Attribute{std::move(attributes)};
}

// Reads "(%a: type {attributes} loc(...), ...)"; a declaration has no names.
absl::Status ReadArguments(Source& source, FunctionType& type, std::vector<ArgumentName>& arguments,
                           std::vector<Attribute>& attributes) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("("));
  const bool is_named = reader.Peek() == '%';
  while (!reader.Try(")")) {
    if (!arguments.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ArgumentName argument;
    if (is_named) {
      ASSIGN_OR_RETURN(argument, ReadArgument(source));
    } else {
      ASSIGN_OR_RETURN(argument.type, ReadType(source));
    }
    ASSIGN_OR_RETURN(Attribute of_argument, ReadValueAttributes(source));
    Location location;
    RETURN_IF_ERROR(ReadOptionalLocation(source, location));
    argument.described = std::move(location.name);
    type.inputs.push_back(argument.type);
    arguments.push_back(std::move(argument));
    attributes.push_back(std::move(of_argument));
  }
  return absl::OkStatus();
}

// Reads "type" or "(type {attributes}, ...)" after "->".
absl::Status ReadResults(Source& source, FunctionType& type, std::vector<Attribute>& attributes) {
  Reader& reader = source.reader;
  if (!reader.Try("(")) {
    ASSIGN_OR_RETURN(Type result, ReadType(source));
    type.results.push_back(std::move(result));
    attributes.push_back({std::make_shared<AttributeMap>()});
    return absl::OkStatus();
  }
  while (!reader.Try(")")) {
    if (!type.results.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ASSIGN_OR_RETURN(Type result, ReadType(source));
    ASSIGN_OR_RETURN(Attribute of_result, ReadValueAttributes(source));
    type.results.push_back(std::move(result));
    attributes.push_back(std::move(of_result));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadFunction(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  AttributeMap& attributes = draft.operation.attributes;
  const auto add = [&](std::string_view name, Attribute attribute) {
    return Put(source, draft.operation.name, name, std::move(attribute), draft.at, attributes);
  };
  for (const std::string_view visibility : {"public", "private", "nested"}) {
    if (reader.TryKeyword(visibility)) RETURN_IF_ERROR(add("sym_visibility", {std::string(visibility)}));
  }
  ASSIGN_OR_RETURN(std::string name, reader.SymbolName());
  RETURN_IF_ERROR(add("sym_name", {std::move(name)}));
  FunctionType type;
  std::vector<ArgumentName> arguments;
  std::vector<Attribute> argument_attributes, result_attributes;
  RETURN_IF_ERROR(ReadArguments(source, type, arguments, argument_attributes));
  if (reader.Try("->")) RETURN_IF_ERROR(ReadResults(source, type, result_attributes));
  RETURN_IF_ERROR(add("function_type", {std::move(type)}));
  RETURN_IF_ERROR(add("arg_attrs", {std::move(argument_attributes)}));
  RETURN_IF_ERROR(add("res_attrs", {std::move(result_attributes)}));
  if (reader.TryKeyword("attributes")) RETURN_IF_ERROR(ReadAttributeMap(source, "func.func", attributes));
  const bool is_declared = !arguments.empty() && arguments[0].name.name.empty();
  if (reader.Peek() == '{' && !is_declared) {
    ASSIGN_OR_RETURN(Region body, ReadRegion(source, Sight::kNothing, arguments));
    draft.operation.regions.push_back(std::move(body));
  }
  return SetResults(source, draft, {});
}

absl::Status ReadModule(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  if (reader.Peek() == '@') {
    ASSIGN_OR_RETURN(std::string name, reader.SymbolName());
    draft.operation.attributes["sym_name"] = {std::move(name)};
  }
  if (reader.TryKeyword("attributes"))
    RETURN_IF_ERROR(ReadAttributeMap(source, draft.operation.name, draft.operation.attributes));
  ASSIGN_OR_RETURN(Region body, ReadRegion(source, Sight::kNothing, {}));
  draft.operation.regions.push_back(std::move(body));
  return SetResults(source, draft, {});
}

}  // namespace hlod::stablehlo::text
