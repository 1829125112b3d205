// Converts attributes of Shardy to the text that MLIR prints.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/bytecode/attributes.h"
#include "client/import/bytecode/fields.h"

namespace hlod::stablehlo::bytecode {
namespace {

using Text = absl::StatusOr<std::string>;

enum ShardyCode : uint64_t {
  kManualAxes,
  kMeshAxis,
  kMesh,
  kSubAxis,
  kAxis,
  kDimension,
  kSharding1,
  kShardings1,
  kDimensionMapping,
  kTensorMapping,
  kRule,
  kAxes,
  kListOfAxes,
  kAllToAll,
  kListOfAllToAll,
  kSharding2,
  kShardings2,
  kSharding3,
};

// Return the text of an attribute that must be of one of the kinds `codes`: by its index, or by the next
// index of `in`.
Text ReadTextAt(Source& source, const Stream& at, size_t index, std::initializer_list<ShardyCode> codes);
Text ReadText(Source& source, Stream& in, std::initializer_list<ShardyCode> codes);
// Returns the texts of several attributes, between `open` and `close`.
Text ReadTexts(Source& source, Stream& in, std::initializer_list<ShardyCode> codes, std::string_view open,
               std::string_view close) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("parts of a sharding"));
  std::string text(open);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string part, ReadText(source, in, codes));
    absl::StrAppend(&text, i == 0 ? "" : ", ", part);
  }
  return absl::StrCat(text, ToAbsl(close));
}

Text Quoted(const Stream& at, std::string_view name) {
  if (name.find_first_of("\"\\\n") != std::string_view::npos)
    return at.Refused("the name of an axis is not plain text");
  return absl::StrCat("\"", ToAbsl(name), "\"");
}

Text ManualAxes(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const size_t count, in.Count("axes"));
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const std::string name, ReadStringAttribute(source, in));
    ASSIGN_OR_RETURN(std::string quoted, Quoted(in, name));
    names.push_back(std::move(quoted));
  }
  return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

Text MeshAxis(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string_view name, ReadString(source, in));
  ASSIGN_OR_RETURN(const std::string quoted, Quoted(in, name));
  ASSIGN_OR_RETURN(const int64_t size, in.Signed());
  return absl::StrCat(quoted, "=", size);
}

Text Mesh(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string axes, ReadTexts(source, in, {kMeshAxis}, "[", "]"));
  ASSIGN_OR_RETURN(const Integers devices, ReadIntegers(in));
  if (devices.empty()) return absl::StrCat("<", axes, ">");
  return absl::StrCat("<", axes, ", device_ids=[", absl::StrJoin(devices, ", "), "]>");
}

Text SubAxis(Source&, Stream& in) {
  ASSIGN_OR_RETURN(const int64_t before, in.Signed());
  ASSIGN_OR_RETURN(const int64_t size, in.Signed());
  return absl::StrCat("(", before, ")", size);
}

Text Axis(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string_view name, ReadString(source, in));
  ASSIGN_OR_RETURN(const std::string quoted, Quoted(in, name));
  Stream before = in;
  ASSIGN_OR_RETURN(const Stream::Flagged part, in.NumberAndFlag());
  if (!part.flag) return quoted;
  ASSIGN_OR_RETURN(const std::string part_text, ReadTextAt(source, before, part.value, {kSubAxis}));
  return absl::StrCat(quoted, ":", part_text);
}

Text Dimension(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(std::string text, ReadTexts(source, in, {kAxis}, "{", ""));
  ASSIGN_OR_RETURN(const uint8_t is_closed, in.Byte());
  ASSIGN_OR_RETURN(const Stream::Flagged priority, in.NumberAndFlag());
  if (is_closed == 0) absl::StrAppend(&text, text == "{" ? "?" : ", ?");
  absl::StrAppend(&text, "}");
  if (priority.flag) absl::StrAppend(&text, "p", priority.value);
  return text;
}

// Reads a mesh or the name of one, dimensions, and axes over which the tensor is replicated.
Text Sharding(Source& source, Stream& in) {
  Stream before = in;
  ASSIGN_OR_RETURN(const size_t mesh, in.Index(source.is_used.size(), "attribute"));
  std::string text = "<";
  if (source.container.attributes[mesh].dialect == "sdy") {
    ASSIGN_OR_RETURN(const std::string written, ReadTextAt(source, before, mesh, {kMesh}));
    absl::StrAppend(&text, "mesh", written);
  } else {
    ASSIGN_OR_RETURN(const Attribute symbol, ReadAttribute(source, before));
    const Symbol* const name = std::get_if<Symbol>(&symbol.value);
    if (name == nullptr) return before.Error("expected a mesh or the name of a mesh");
    absl::StrAppend(&text, "@", name->name);
  }
  ASSIGN_OR_RETURN(const std::string dimensions, ReadTexts(source, in, {kDimension}, "[", "]"));
  ASSIGN_OR_RETURN(const std::string replicated, ReadTexts(source, in, {kAxis}, "{", "}"));
  absl::StrAppend(&text, ", ", dimensions);
  if (replicated != "{}") absl::StrAppend(&text, ", replicated=", replicated);
  return text;
}

Text Sharding1(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string text, Sharding(source, in));
  return absl::StrCat(text, ">");
}

// Version 2 adds the axes over which the tensor is still a partial sum.
Text Sharding2(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string text, Sharding(source, in));
  ASSIGN_OR_RETURN(const std::string unreduced, ReadTexts(source, in, {kAxis}, "{", "}"));
  return unreduced == "{}" ? absl::StrCat(text, ">") : absl::StrCat(text, ", unreduced=", unreduced, ">");
}

// Version 3 adds the kind of reduction, a sum by default.
Text Sharding3(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(std::string text, Sharding2(source, in));
  RETURN_IF_ERROR(in.Bytes(in.left(), "a reduction").status());
  return text;
}

Text Shardings(Source& source, Stream& in) {
  return ReadTexts(source, in, {kSharding1, kSharding2, kSharding3}, "[", "]");
}

// Returns the name of a factor: "i" to "z", then "z_1".
Text Factor(const Stream& at, int64_t number) {
  constexpr int kLetters = 'z' - 'i' + 1;
  if (number < 0) return at.Error("the factor %d of a sharding rule is negative", number);
  if (number < kLetters) return std::string(1, static_cast<char>('i' + number));
  return absl::StrCat("z_", number - kLetters + 1);
}

Text Factors(const Stream& at, const Integers& numbers, std::string_view separator) {
  std::vector<std::string> names;
  for (const int64_t number : numbers) {
    ASSIGN_OR_RETURN(std::string name, Factor(at, number));
    names.push_back(std::move(name));
  }
  return absl::StrJoin(names, ToAbsl(separator));
}

Text DimensionMapping(Source&, Stream& in) {
  ASSIGN_OR_RETURN(const Integers factors, ReadIntegers(in));
  return Factors(in, factors, "");
}

Text TensorMapping(Source& source, Stream& in) {
  return ReadTexts(source, in, {kDimensionMapping}, "[", "]");
}

Text ShardingRule(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const Integers sizes, ReadIntegers(in));
  ASSIGN_OR_RETURN(const std::string operands, ReadTexts(source, in, {kTensorMapping}, "(", ")"));
  ASSIGN_OR_RETURN(const std::string results, ReadTexts(source, in, {kTensorMapping}, "(", ")"));
  std::vector<std::string> factors;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ASSIGN_OR_RETURN(const std::string name, Factor(in, static_cast<int64_t>(i)));
    factors.push_back(absl::StrCat(name, "=", sizes[i]));
  }
  std::string text = absl::StrCat("<", operands, "->", results, " {", absl::StrJoin(factors, ", "), "}");
  for (const char* const kind : {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    ASSIGN_OR_RETURN(const Integers special, ReadIntegers(in));
    ASSIGN_OR_RETURN(const std::string names, Factors(in, special, ", "));
    if (!special.empty()) absl::StrAppend(&text, " ", kind, "={", names, "}");
  }
  ASSIGN_OR_RETURN(const uint8_t is_custom, in.Byte());
  return absl::StrCat(text, is_custom != 0 ? ", custom>" : ">");
}

Text Axes(Source& source, Stream& in) { return ReadTexts(source, in, {kAxis}, "{", "}"); }
Text ListOfAxes(Source& source, Stream& in) { return ReadTexts(source, in, {kAxes}, "[", "]"); }

Text AllToAll(Source& source, Stream& in) {
  ASSIGN_OR_RETURN(const std::string axes, ReadTexts(source, in, {kAxis}, "{", "}"));
  ASSIGN_OR_RETURN(const int64_t from, in.Signed());
  ASSIGN_OR_RETURN(const int64_t to, in.Signed());
  return absl::StrCat(axes, ": ", from, "->", to);
}
Text ListOfAllToAll(Source& source, Stream& in) { return ReadTexts(source, in, {kAllToAll}, "[", "]"); }

// The text around an attribute that is not nested in another, by code.
struct Row {
  std::string_view before, after;
  Text (*read)(Source&, Stream&);
};
constexpr Row kRows[] = {
    {"#sdy<manual_axes", ">", ManualAxes},
    {"#sdy<mesh_axis ", ">", MeshAxis},
    {"#sdy.mesh", "", Mesh},
    {"#sdy<sub_axis_info ", ">", SubAxis},
    {"#sdy<axis_ref ", ">", Axis},
    {"#sdy<dimension_sharding ", ">", Dimension},
    {"#sdy.sharding", "", Sharding1},
    {"#sdy.sharding_per_value<", ">", Shardings},
    {"#sdy<dim_mapping ", ">", DimensionMapping},
    {"#sdy<tensor_mapping ", ">", TensorMapping},
    {"#sdy.op_sharding_rule", "", ShardingRule},
    {"#sdy<axis_ref_list", ">", Axes},
    {"#sdy<list_of_axis_ref_lists", ">", ListOfAxes},
    {"#sdy<all_to_all_param ", ">", AllToAll},
    {"#sdy<all_to_all_param_list", ">", ListOfAllToAll},
    {"#sdy.sharding", "", Sharding2},
    {"#sdy.sharding_per_value<", ">", Shardings},
    {"#sdy.sharding", "", Sharding3},
};

Text ReadTextAt(Source& source, const Stream& at, size_t index, std::initializer_list<ShardyCode> codes) {
  const Nested nested(source);
  RETURN_IF_ERROR(nested.Check(at));
  RETURN_IF_ERROR(at.CheckIndex(index, source.is_used.size(), "attribute"));
  const Entry& entry = source.container.attributes[index];
  Stream in = entry.bytes;
  if (entry.dialect != "sdy" || !entry.is_custom) return at.Error("expected an attribute of Shardy");
  ASSIGN_OR_RETURN(const uint64_t code, in.Number());
  if (std::ranges::find(codes, code) == codes.end())
    return in.Error("expected an attribute of Shardy of kind %d, found %d", *codes.begin(), code);
  ASSIGN_OR_RETURN(std::string text, kRows[code].read(source, in));
  RETURN_IF_ERROR(in.End("an attribute"));
  RETURN_IF_ERROR(source.Charge(at, static_cast<int64_t>(text.size())));
  return text;
}

Text ReadText(Source& source, Stream& in, std::initializer_list<ShardyCode> codes) {
  const Stream before = in;
  ASSIGN_OR_RETURN(const size_t index, in.Index(source.is_used.size(), "attribute"));
  return ReadTextAt(source, before, index, codes);
}

}  // namespace

absl::StatusOr<Attribute> ReadShardyAttribute(Source& source, uint64_t code, Stream& in) {
  if (code >= std::size(kRows)) {
    return in.Refused("attribute %d of the dialect sdy is unknown; the artifact was written as %s", code,
                      source.container.producer);
  }
  const Row& row = kRows[code];
  ASSIGN_OR_RETURN(const std::string text, row.read(source, in));
  return Attribute{Word{absl::StrCat(ToAbsl(row.before), text, ToAbsl(row.after))}};
}

}  // namespace hlod::stablehlo::bytecode
