// Reads the pretty forms that no format describes, and chooses the reader of each operation.
#include "absl/strings/str_cat.h"
#include "client/import/text/attributes/attributes.h"
#include "client/import/text/forms.h"
#include "client/import/text/types.h"

namespace hlod::stablehlo::text {
namespace {

// Reads "(%a: type, %b: type)".
absl::Status ReadPair(Source& source, std::vector<ArgumentName>& firsts, std::vector<ArgumentName>& seconds) {
  RETURN_IF_ERROR(source.reader.Expect("("));
  ASSIGN_OR_RETURN(ArgumentName first, ReadArgument(source));
  RETURN_IF_ERROR(source.reader.Expect(","));
  ASSIGN_OR_RETURN(ArgumentName second, ReadArgument(source));
  firsts.push_back(std::move(first));
  seconds.push_back(std::move(second));
  return source.reader.Expect(")");
}

// Returns the region that "applies stablehlo.add" abbreviates, over scalars of the initial value's type.
absl::StatusOr<Region> RegionOf(Source& source, const PartialOperation& draft, std::string_view operation,
                                size_t at) {
  if (draft.operation.operands.size() != 2)
    return source.reader.ErrorAt(at, "'applies %s' is only for a reduction of one input", operation);
  Type type = source.values.TypeOf(draft.operation.operands[1]);
  ASSIGN_OR_RETURN(const ValueId first, source.values.Number(3, at));
  for (int i = 0; i < 3; ++i) source.values.SetType(first + i, type);
  const LineAndColumn place = source.reader.Place(at);
  const Location location{.read_line = place.line, .read_column = place.column};
  Region region;
  Block& block = region.blocks.emplace_back();
  block.arguments = {{first, type}, {first + 1, type}};
  block.operations.push_back({.name = std::string(operation),
                              .operands = {first, first + 1},
                              .results = {{first + 2, type}},
                              .location = location});
  block.operations.push_back({.name = "stablehlo.return", .operands = {first + 2}, .location = location});
  return region;
}

absl::Status ReadDictionary(Source& source, PartialOperation& draft) {
  return ReadAttributeMap(source, draft.operation.name, draft.operation.attributes);
}

}  // namespace

// Reads stablehlo.while(%iterArg = %0, ...) : types attributes {...} cond {...} do {...}
absl::Status ReadWhile(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  std::vector<ArgumentName> arguments;
  RETURN_IF_ERROR(reader.Expect("("));
  while (!reader.Try(")")) {
    if (!arguments.empty()) RETURN_IF_ERROR(reader.Expect(","));
    ArgumentName argument;
    argument.name.at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(argument.name.name, reader.NameAfter('%', "%name = %value, or ')'"));
    RETURN_IF_ERROR(reader.Expect("="));
    ASSIGN_OR_RETURN(const ValueId value, source.values.ReadUse());
    draft.operation.operands.push_back(value);
    arguments.push_back(std::move(argument));
  }
  std::vector<Type> types;
  const size_t at = (reader.SkipBlanks(), reader.position());
  if (!arguments.empty()) {
    RETURN_IF_ERROR(reader.Expect(":"));
    ASSIGN_OR_RETURN(types, ReadTypes(source));
  }
  if (types.size() != arguments.size()) {
    return reader.ErrorAt(at, "stablehlo.while has %d operands, but types for %d", arguments.size(),
                          types.size());
  }
  for (size_t i = 0; i < types.size(); ++i) arguments[i].type = types[i];
  draft.operand_types = types;
  RETURN_IF_ERROR(SetResults(source, draft, std::move(types)));
  if (reader.TryKeyword("attributes")) RETURN_IF_ERROR(ReadDictionary(source, draft));
  for (const std::string_view word : {"cond", "do"}) {
    if (!reader.TryKeyword(word))
      return reader.Expected(absl::StrCat("'", ToAbsl(word), "' of stablehlo.while"));
    ASSIGN_OR_RETURN(Region region, ReadRegion(source, Sight::kOuter, arguments));
    draft.operation.regions.push_back(std::move(region));
  }
  return absl::OkStatus();
}

// Reads
// stablehlo.reduce(%0 init: %1), (%2 init: %3) [applies op] across dimensions = [0] {...} : types
//   [reducer(%a: type, %b: type) (%c: type, %d: type) {...}]
absl::Status ReadReduce(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  std::vector<ValueId> initial;
  do {
    RETURN_IF_ERROR(reader.Expect("("));
    ASSIGN_OR_RETURN(const ValueId input, source.values.ReadUse());
    if (!reader.TryKeyword("init")) return reader.Expected("'init:' and the initial value");
    RETURN_IF_ERROR(reader.Expect(":"));
    ASSIGN_OR_RETURN(const ValueId value, source.values.ReadUse());
    RETURN_IF_ERROR(reader.Expect(")"));
    draft.operation.operands.push_back(input);
    initial.push_back(value);
  } while (reader.Try(","));
  draft.operation.operands.insert(draft.operation.operands.end(), initial.begin(), initial.end());

  std::string applied;
  size_t applied_at = 0;
  if (reader.TryKeyword("applies")) {
    applied_at = (reader.SkipBlanks(), reader.position());
    ASSIGN_OR_RETURN(const std::string_view name, reader.BareWord("an operation after 'applies'"));
    applied = OperationNamed(name);
  }
  if (!reader.TryKeyword("across")) return reader.Expected("'across dimensions = [...]'");
  if (!reader.TryKeyword("dimensions")) return reader.Expected("'dimensions = [...]'");
  RETURN_IF_ERROR(reader.Expect("="));
  const size_t at = (reader.SkipBlanks(), reader.position());
  ASSIGN_OR_RETURN(Attribute dimensions, ReadIntegers(source));
  RETURN_IF_ERROR(
      Put(source, draft.operation.name, "dimensions", std::move(dimensions), at, draft.operation.attributes));
  if (reader.Peek() == '{') RETURN_IF_ERROR(ReadDictionary(source, draft));
  RETURN_IF_ERROR(reader.Expect(":"));
  RETURN_IF_ERROR(ReadSignature(source, draft));

  if (!applied.empty()) {
    ASSIGN_OR_RETURN(Region region, RegionOf(source, draft, applied, applied_at));
    draft.operation.regions.push_back(std::move(region));
    return absl::OkStatus();
  }
  if (!reader.TryKeyword("reducer")) return reader.Expected("'reducer' of stablehlo.reduce");
  std::vector<ArgumentName> arguments, seconds;
  while (reader.Peek() == '(') RETURN_IF_ERROR(ReadPair(source, arguments, seconds));
  for (ArgumentName& second : seconds) arguments.push_back(std::move(second));
  ASSIGN_OR_RETURN(Region region, ReadRegion(source, Sight::kOuter, arguments));
  draft.operation.regions.push_back(std::move(region));
  return absl::OkStatus();
}

// Reads chlo.scan(%0) inits (%1) dimension=0 attributes {...} {...} : types
absl::Status ReadScan(Source& source, PartialOperation& draft) {
  Reader& reader = source.reader;
  AttributeMap& attributes = draft.operation.attributes;
  const auto add = [&](std::string_view name, Attribute attribute) {
    return Put(source, draft.operation.name, name, std::move(attribute), draft.at, attributes);
  };
  RETURN_IF_ERROR(reader.Expect("("));
  RETURN_IF_ERROR(ReadOperands(source, draft));
  RETURN_IF_ERROR(reader.Expect(")"));
  const int64_t inputs = draft.operation.operands.size();
  if (!reader.TryKeyword("inits")) return reader.Expected("'inits' of chlo.scan");
  RETURN_IF_ERROR(reader.Expect("("));
  RETURN_IF_ERROR(ReadOperands(source, draft));
  RETURN_IF_ERROR(reader.Expect(")"));
  const int64_t carries = draft.operation.operands.size() - inputs;
  if (!reader.TryKeyword("dimension")) return reader.Expected("'dimension' of chlo.scan");
  RETURN_IF_ERROR(reader.Expect("="));
  ASSIGN_OR_RETURN(const int64_t dimension, reader.Integer());
  RETURN_IF_ERROR(add("dimension", {.value = dimension, .type = hlo::kS64}));
  if (reader.TryKeyword("attributes")) RETURN_IF_ERROR(ReadDictionary(source, draft));
  ASSIGN_OR_RETURN(Region region, ReadRegion(source, Sight::kOuter, {}));
  draft.operation.regions.push_back(std::move(region));
  RETURN_IF_ERROR(reader.Expect(":"));
  RETURN_IF_ERROR(ReadSignature(source, draft));
  const int64_t outputs = static_cast<int64_t>(draft.operation.results.size()) - carries;
  RETURN_IF_ERROR(add("operandSegmentSizes", {.value = Integers{inputs, carries}, .type = hlo::kS32}));
  return add("resultSegmentSizes", {.value = Integers{outputs, carries}, .type = hlo::kS32});
}

absl::Status ReadPrettyForm(Source& source, PartialOperation& draft) {
  const std::string_view name = draft.operation.name;
  if (name == "stablehlo.while") return ReadWhile(source, draft);
  if (name == "stablehlo.reduce") return ReadReduce(source, draft);
  if (name == "chlo.scan") return ReadScan(source, draft);
  if (name == "func.func") return ReadFunction(source, draft);
  if (name == "builtin.module") return ReadModule(source, draft);
  // "constant() {value = dense<1> : ...} : () -> ..." is the generic form: the pretty one has no parentheses.
  if (name == "stablehlo.constant" && source.reader.Peek() == '(') return ReadAfterName(source, draft);
  ASSIGN_OR_RETURN(const bool is_read, ReadByFormat(source, draft));
  if (is_read) return absl::OkStatus();
  return source.reader.ErrorAt(
      draft.at,
      "expected an operation with a known short form, found %s; any operation can be read in "
      "the generic form, \"%s\"(...)",
      name, name);
}

}  // namespace hlod::stablehlo::text
