// Reads the frame around every operation, the generic form, and blocks.
#include "client/import/text/operations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/location.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

constexpr int64_t kMaxResults = 1 << 20;  // Results of one operation.

// Reads "%a, %b:2 =" before an operation.
absl::Status ReadResultNames(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  if (reader.Peek() != '%') return absl::OkStatus();
  do {
    ValueName result;
    result.at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(result.name, reader.NameAfter('%', "the name of a result"));
    if (reader.Try(":")) {
      ASSIGN_OR_RETURN(const int64_t count, reader.Integer());
      if (count < 1 || count > kMaxResults)
        return reader.ErrorAt(result.at, "%%%s has %d results; expected 1 to %d", result.name, count,
                              kMaxResults);
      result.count = static_cast<int>(count);
    }
    draft.names.push_back(result);
  } while (reader.Try(","));
  if (reader.Peek() != '=') return reader.Expected("'=' after the names of results");
  return reader.Expect("=");
}

// Numbers the named results. Their numbers come before those of the values within the operation.
absl::Status NumberNamedResults(Source& source, PartialOperation& draft) {
  for (const ValueName& result : draft.names) {
    ASSIGN_OR_RETURN(const ValueId first, source.values.Number(result.count, result.at));
    for (int i = 0; i < result.count; ++i) draft.operation.results.push_back({.id = first + i});
  }
  return absl::OkStatus();
}

absl::Status DefineResults(Source& source, const PartialOperation& draft) {
  size_t next = 0;
  for (const ValueName& result : draft.names) {
    RETURN_IF_ERROR(source.values.Define(result, draft.operation.results[next].id));
    next += result.count;
  }
  return absl::OkStatus();
}

absl::Status CheckOperands(Source& source, const PartialOperation& draft) {
  const Operation& operation = draft.operation;
  if (draft.operand_types.empty()) return absl::OkStatus();
  if (operation.operands.size() != draft.operand_types.size()) {
    return source.reader.ErrorAt(draft.at, "%s has %d operands, but types for %d", operation.name,
                                 operation.operands.size(), draft.operand_types.size());
  }
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    const Type& defined = source.values.TypeOf(operation.operands[i]);
    if (defined == draft.operand_types[i]) continue;
    return source.reader.ErrorAt(draft.at, "operand %d of %s has the type %s, but is stated to be %s", i,
                                 operation.name, hlo::ToString(defined),
                                 hlo::ToString(draft.operand_types[i]));
  }
  return absl::OkStatus();
}

// Checks that every block ends with a return, which the consumers of the program rely on.
absl::Status CheckRegions(Source& source, const PartialOperation& draft) {
  if (draft.operation.name == "builtin.module") return absl::OkStatus();
  for (const Region& region : draft.operation.regions) {
    const std::vector<Operation>& operations = region.blocks[0].operations;
    // The operation is a declaration.
    if (operations.empty() && draft.operation.name == "func.func") continue;
    if (operations.empty() || !operations.back().name.ends_with(".return"))
      return source.reader.ErrorAt(draft.at, "a region of %s does not end with a return",
                                   draft.operation.name);
  }
  return absl::OkStatus();
}

Sight SightOf(std::string_view operation) {
  if (operation == "func.func" || operation == "builtin.module") return Sight::kNothing;
  return operation.starts_with("sdy.") ? Sight::kShadows : Sight::kOuter;
}

// Reads "^bb0(%a: tensor<f32>, ...):", if a label follows.
absl::StatusOr<std::vector<ArgumentName>> ReadLabel(Source& source) {
  Reader& reader = source.reader;
  std::vector<ArgumentName> arguments;
  if (reader.Peek() != '^') return arguments;
  RETURN_IF_ERROR(reader.NameAfter('^', "a block's label").status());
  if (reader.Try("(")) {
    while (!reader.Try(")")) {
      if (!arguments.empty()) RETURN_IF_ERROR(reader.Expect(","));
      ASSIGN_OR_RETURN(ArgumentName argument, ReadArgument(source));
      arguments.push_back(std::move(argument));
    }
  }
  RETURN_IF_ERROR(reader.Expect(":"));
  return arguments;
}

absl::Status ReadBlock(Source& source, const std::vector<ArgumentName>& given, Block& block) {
  Reader& reader = source.reader;
  ASSIGN_OR_RETURN(const std::vector<ArgumentName> labelled, ReadLabel(source));
  for (const std::vector<ArgumentName>* arguments : {&given, &labelled}) {
    for (const ArgumentName& argument : *arguments) {
      ASSIGN_OR_RETURN(const ValueId id, source.values.Number(1, argument.name.at));
      source.values.SetType(id, argument.type);
      RETURN_IF_ERROR(source.values.Define(argument.name, id));
      block.arguments.push_back({.id = id, .type = argument.type});
      block.argument_names.push_back(argument.described);
    }
  }
  while (!reader.Try("}")) {
    if (reader.AtEnd()) return reader.Expected("an operation or '}'");
    if (reader.Peek() == '^')
      return reader.ErrorAt(reader.position(), "the region has several blocks; StableHLO's regions have one");
    ASSIGN_OR_RETURN(Operation operation, ReadOperation(source));
    block.operations.push_back(std::move(operation));
  }
  return absl::OkStatus();
}

// Reads "<{attributes}>", "({region}, ...)" and "{attributes}" of the generic form.
absl::Status ReadGenericBody(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  Operation& operation = draft.operation;
  if (reader.Peek() == '[')
    return reader.ErrorAt(reader.position(), "operations with successors are not supported");
  if (reader.Try("<")) {
    RETURN_IF_ERROR(ReadAttributeMap(source, operation.name, operation.attributes));
    RETURN_IF_ERROR(reader.Expect(">"));
  }
  if (reader.Try("(")) {
    do {
      ASSIGN_OR_RETURN(Region region, ReadRegion(source, SightOf(operation.name), {}));
      operation.regions.push_back(std::move(region));
    } while (reader.Try(","));
    RETURN_IF_ERROR(reader.Expect(")"));
  }
  if (reader.Peek() == '{') RETURN_IF_ERROR(ReadAttributeMap(source, operation.name, operation.attributes));
  return absl::OkStatus();
}

}  // namespace

std::string OperationNamed(std::string_view name) {
  static constexpr std::string_view kOfChlo[] = {"acos",  "acosh", "asin", "asinh",
                                                 "atanh", "cosh",  "erf",  "sinh"};
  static constexpr std::string_view kOfHlo[] = {"add_dependency", "bitcast", "copy",
                                                "domain",         "fusion",  "stochastic_convert"};
  if (name == "arith.constant") return "stablehlo.constant";
  if (name == "mhlo.topk") return "chlo.top_k";
  if (!name.starts_with("mhlo.")) return std::string(name);
  const std::string_view rest = name.substr(name.find('.') + 1);
  if (std::ranges::find(kOfHlo, rest) != std::end(kOfHlo)) return std::string(name);
  const bool is_chlo = std::ranges::find(kOfChlo, rest) != std::end(kOfChlo);
  return absl::StrCat(is_chlo ? "chlo." : "stablehlo.", ToAbsl(rest));
}

absl::Status SetResults(Source& source, PartialOperation& draft, std::vector<Type> types) {
  std::vector<Value>& results = draft.operation.results;
  if (draft.names.empty()) {
    ASSIGN_OR_RETURN(const ValueId first, source.values.Number(static_cast<int>(types.size()), draft.at));
    for (size_t i = 0; i < types.size(); ++i) results.push_back({.id = first + static_cast<ValueId>(i)});
  }
  if (results.size() != types.size()) {
    return source.reader.ErrorAt(draft.at, "%s has %d results, but names for %d", draft.operation.name,
                                 types.size(), results.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    source.values.SetType(results[i].id, types[i]);
    results[i].type = std::move(types[i]);
  }
  return absl::OkStatus();
}

absl::Status ReadOperands(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  if (reader.Peek() != '%') return absl::OkStatus();
  for (;;) {
    ASSIGN_OR_RETURN(const ValueId id, source.values.ReadUse());
    draft.operation.operands.push_back(id);
    reader.SkipBlanks();
    const size_t before = reader.position();
    if (!reader.Try(",")) return absl::OkStatus();
    if (reader.Peek() == '%') continue;
    reader.Rewind(before);  // The comma belongs to the next part.
    return absl::OkStatus();
  }
}

absl::Status ReadSignature(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  const size_t at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(FunctionType type, ReadFunctionType(source));
  if (type.inputs.size() != draft.operation.operands.size()) {
    return reader.ErrorAt(at, "%s has %d operands, but types for %d", draft.operation.name,
                          draft.operation.operands.size(), type.inputs.size());
  }
  draft.operand_types = std::move(type.inputs);
  return SetResults(source, draft, std::move(type.results));
}

absl::Status ReadGenericForm(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  draft.at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(const std::string name, reader.String());
  draft.operation.name = OperationNamed(name);
  RETURN_IF_ERROR(NumberNamedResults(source, draft));
  return ReadAfterName(source, draft);
}

absl::Status ReadAfterName(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  RETURN_IF_ERROR(reader.Expect("("));
  RETURN_IF_ERROR(ReadOperands(source, draft));
  RETURN_IF_ERROR(reader.Expect(")"));
  RETURN_IF_ERROR(ReadGenericBody(source, draft));
  RETURN_IF_ERROR(reader.Expect(":"));
  return ReadSignature(source, draft);
}

absl::StatusOr<Operation> ReadOperation(Source& source) {
  Reader& reader = source.reader;
  const Nested nested(source);
  RETURN_IF_ERROR(nested.status());
  PartialOperation draft;
  RETURN_IF_ERROR(ReadResultNames(source, draft));
  draft.at = (reader.SkipBlanks(), reader.position());
  if (reader.Peek() == '"') {
    RETURN_IF_ERROR(ReadGenericForm(source, draft));
  } else {
    ASSIGN_OR_RETURN(const std::string_view name, reader.BareWord("an operation"));
    // A function's body may omit the dialect in names of func.
    const bool is_short = name.find('.') == std::string_view::npos;
    draft.operation.name = absl::StrCat(!is_short          ? ""
                                        : name == "module" ? "builtin."
                                                           : "func.",
                                        OperationNamed(name));
    RETURN_IF_ERROR(NumberNamedResults(source, draft));
    RETURN_IF_ERROR(ReadPrettyForm(source, draft));
  }
  RETURN_IF_ERROR(CheckOperands(source, draft));
  RETURN_IF_ERROR(CheckRegions(source, draft));
  RETURN_IF_ERROR(ReadOptionalLocation(source, draft.operation.location));
  const LineAndColumn place = reader.Place(draft.at);
  draft.operation.location.read_line = place.line;
  draft.operation.location.read_column = place.column;
  RETURN_IF_ERROR(DefineResults(source, draft));
  return std::move(draft.operation);
}

absl::StatusOr<ArgumentName> ReadArgument(Source& source) {
  Reader& reader = source.reader;
  ArgumentName argument;
  argument.name.at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(argument.name.name, reader.NameAfter('%', "an argument (%name: type)"));
  RETURN_IF_ERROR(reader.Expect(":"));
  ASSIGN_OR_RETURN(argument.type, ReadType(source));
  Location ignored;
  RETURN_IF_ERROR(ReadOptionalLocation(source, ignored));
  return argument;
}

absl::StatusOr<Region> ReadRegion(Source& source, Sight sight, const std::vector<ArgumentName>& arguments) {
  RETURN_IF_ERROR(source.reader.Expect("{"));
  Region region;
  region.blocks.emplace_back();
  source.values.Open(sight);
  RETURN_IF_ERROR(ReadBlock(source, arguments, region.blocks[0]));
  source.values.Close();
  return region;
}

}  // namespace hlod::stablehlo::text
