// Prints values by number, and attributes with their types.
#include "tests/unit/client/import/program_text.h"

#include <set>
#include <sstream>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo {
namespace {

std::string Types(const std::vector<Type>& types) {
  return absl::StrJoin(types, ", ", [](std::string* out, const Type& type) { *out += hlo::ToString(type); });
}

std::string Values(const std::vector<Value>& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Value& value) {
    absl::StrAppend(out, "%", value.id, ": ", hlo::ToString(value.type));
  });
}

std::string Map(const AttributeMap& map) {
  return absl::StrCat("{",
                      absl::StrJoin(map, ", ",
                                    [](std::string* out, const auto& entry) {
                                      absl::StrAppend(out, entry.first, " = ", ToText(entry.second));
                                    }),
                      "}");
}

struct Show {
  std::string operator()(std::monostate) const { return "unit"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(double value) const { return absl::StrFormat("%.17g", value); }
  std::string operator()(const std::string& text) const {
    return absl::StrCat("\"", absl::CEscape(text), "\"");
  }
  std::string operator()(const Word& word) const { return word.text; }
  std::string operator()(const Symbol& symbol) const { return absl::StrCat("@", symbol.name); }
  std::string operator()(const Integers& values) const {
    return absl::StrCat("[", absl::StrJoin(values, ","), "]");
  }
  std::string operator()(const hlo::Literal& literal) const {
    const auto bytes = literal.bytes();
    return absl::StrCat(hlo::ToString(literal.shape()), " ",
                        absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  std::string operator()(const Splat& splat) const {
    return absl::StrCat("splat ", hlo::ToString(splat.type), " of ", (*this)(splat.element));
  }
  std::string operator()(const Type& type) const { return hlo::ToString(type); }
  std::string operator()(const FunctionType& type) const {
    return absl::StrCat("(", Types(type.inputs), ") -> (", Types(type.results), ")");
  }
  std::string operator()(const std::vector<Attribute>& list) const {
    return absl::StrCat(
        "[",
        absl::StrJoin(list, "; ",
                      [](std::string* out, const Attribute& element) { *out += ToText(element); }),
        "]");
  }
  std::string operator()(const std::shared_ptr<AttributeMap>& map) const { return Map(*map); }
};

std::string Regions(const std::vector<Region>& regions, int indent) {
  std::string text;
  for (const Region& region : regions) {
    for (const Block& block : region.blocks) {
      absl::StrAppend(&text, std::string(indent, ' '), "(", Values(block.arguments), ")\n");
      for (const Operation& operation : block.operations) text += ToText(operation, indent + 2);
    }
  }
  return text;
}

}  // namespace

std::string ToText(const Attribute& attribute) {
  std::string text = std::visit(Show(), attribute.value);
  if (attribute.type != hlo::kInvalid) absl::StrAppend(&text, " : ", ToAbsl(hlo::Name(attribute.type)));
  return text;
}

std::string ToText(const Operation& operation, int indent) {
  const std::string operands = absl::StrJoin(
      operation.operands, ", ", [](std::string* out, ValueId id) { absl::StrAppend(out, "%", id); });
  std::string text = absl::StrCat(std::string(indent, ' '), operation.name, "(", operands, ") -> (",
                                  Values(operation.results), ")\n");
  for (const auto& [name, value] : operation.attributes)
    absl::StrAppend(&text, std::string(indent + 4, ' '), name, " = ", ToText(value), "\n");
  return absl::StrCat(text, Regions(operation.regions, indent + 2));
}

std::string ToText(const Program& program) {
  std::string text =
      absl::StrCat("module ", program.name, " ", Map(program.attributes), " ", program.values, "\n");
  for (const Operation& operation : program.others) text += ToText(operation);
  for (const Function& function : program.functions) {
    absl::StrAppend(&text, function.is_public ? "public " : "private ", function.name, " ",
                    Show()(function.type), "\n");
    for (const auto* maps : {&function.argument_attributes, &function.result_attributes}) {
      for (const AttributeMap& map : *maps) absl::StrAppend(&text, "  ", Map(map), "\n");
    }
    text += Regions({function.body}, 2);
  }
  return text;
}

std::string WithoutDefaults(const std::string& text) {
  static const std::set<std::string_view> kDefaults = {
      "api_version = 1",
      "backend_config = \"\"",
      "called_computations = []",
      "channel_type = 0 : s64",
      "has_side_effect = false : pred",
      "indices_are_sorted = false : pred",
      "is_stable = false : pred",
      "known_expanding_dimensions = [] : s64",
      "lhs_dilation = [1,1] : s64",
      "lower = false : pred",
      "operand_batching_dims = [] : s64",
      "operand_layouts = []",
      "output_operand_aliases = []",
      "padding = s64[2,2] 0000000000000000000000000000000000000000000000000000000000000000",
      "precision_config = [DEFAULT; DEFAULT]",
      "result_layouts = []",
      "rhs_dilation = [1,1] : s64",
      "source_target_pairs = [] : s64",
      "start_indices_batching_dims = [] : s64",
      "unique_indices = false : pred",
      "use_global_device_ids = false : pred",
      "window_reversal = [0,0] : pred",
      "window_strides = [1,1] : s64",
  };
  std::istringstream in(text);
  std::string kept;
  for (std::string line; std::getline(in, line);) {
    const std::string_view attribute =
        std::string_view(line).substr(std::min(line.find_first_not_of(' '), line.size()));
    if (kDefaults.count(attribute) == 0) kept += line + "\n";
  }
  return kept;
}

}  // namespace hlod::stablehlo
