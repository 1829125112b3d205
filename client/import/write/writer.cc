// Writes the frame around every operation, functions, regions, tuples.
#include "client/import/write/writer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/program/attribute_text.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/sharding.h"

namespace hlod::stablehlo::write {
namespace {

// A computation that several others use as a region is written once for each, so the text may exceed the
// module.
constexpr int64_t kOperationsMax = hlo::VerifyOptions{}.instructions_max;

void AddLeaves(const hlo::Shape& shape, std::vector<const hlo::Shape*>& leaves) {
  if (!shape.IsTuple()) return leaves.push_back(&shape);
  for (const hlo::Shape& element : shape.tuple) AddLeaves(element, leaves);
}

std::vector<const hlo::Shape*> LeavesOf(const hlo::Shape& shape) {
  std::vector<const hlo::Shape*> leaves;
  AddLeaves(shape, leaves);
  return leaves;
}

std::string Names(const Leaves& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Leaf& leaf) { *out += leaf.name; });
}

std::string Types(const Leaves& values) {
  return absl::StrJoin(values, ", ",
                       [](std::string* out, const Leaf& leaf) { *out += TypeText(*leaf.type); });
}

// Returns "-> tensor<f32>", "-> (tensor<f32>, tensor<i1>)".
std::string ResultTypes(const Leaves& values) {
  return values.size() == 1 ? Types(values) : absl::StrCat("(", Types(values), ")");
}

std::string Arguments(const Leaves& values) {
  return absl::StrJoin(values, ", ", [](std::string* out, const Leaf& leaf) {
    absl::StrAppend(out, leaf.name, ": ", TypeText(*leaf.type));
  });
}

// Adds the annotations of the instruction, which do not affect its value.
void AddNotes(const hlo::Notes& notes, AttributeMap& attributes) {
  AddFrontendAttributes(notes.frontend_attributes, attributes);
  if (std::string sharding = hlo::ShardingToText(notes.sharding); !sharding.empty())
    attributes["mhlo.sharding"] = {std::move(sharding)};
}

// Returns loc("scope"("file":1:0)), with the parts that are known.
std::string LocationText(const hlo::Metadata& metadata) {
  const std::string file = metadata.source_file.empty()
                               ? ""
                               : absl::StrCat(Quoted(metadata.source_file), ":", metadata.source_line, ":0");
  if (metadata.op_name.empty()) return file.empty() ? "" : absl::StrCat(" loc(", file, ")");
  return absl::StrCat(" loc(", Quoted(metadata.op_name), file.empty() ? "" : absl::StrCat("(", file, ")"),
                      ")");
}

}  // namespace

void AddFrontendAttributes(const std::map<std::string, std::string>& stated, AttributeMap& attributes) {
  if (stated.empty()) return;
  auto map = std::make_shared<AttributeMap>();
  for (const auto& [key, value] : stated) (*map)[key] = {value};
  attributes["mhlo.frontend_attributes"] = {std::move(map)};
}

absl::Status Writer::WriteAll() {
  RETURN_IF_ERROR(WriteEntry());
  while (functions_.HasNext()) RETURN_IF_ERROR(WriteFunction(functions_.Next()));
  return absl::OkStatus();
}

// Writes the entry. A parameter that is a tuple remains one; a tuple result becomes several results.
absl::Status Writer::WriteEntry() {
  const hlo::Computation& entry = module_.entry();
  std::string arguments;
  Leaves parameters;
  for (const hlo::NodeId id : entry.parameters()) {
    const hlo::Instruction parameter = entry[id];
    const Leaf leaf{absl::StrCat("%arg", parameter.parameter_number()), &parameter.shape()};
    AttributeMap attributes;
    if (const hlo::Notes* notes = entry.notes(id)) AddNotes(*notes, attributes);
    for (const hlo::InputOutputAlias& alias : module_.config.input_output_alias) {
      const bool is_whole = alias.parameter_index.empty() && alias.output_index.size() <= 1;
      if (alias.parameter_number != parameter.parameter_number() || !is_whole) continue;
      attributes["tf.aliasing_output"] =
          Number(alias.output_index.empty() ? 0 : alias.output_index[0], hlo::kS32);
    }
    absl::StrAppend(&arguments, arguments.empty() ? "" : ", ", Arguments({leaf}),
                    attributes.empty() ? "" : absl::StrCat(" ", TextOf(attributes)));
    parameters.push_back(leaf);
  }
  const hlo::Shape& root = entry.root().shape();
  Leaves results;
  if (root.IsTuple()) {
    for (const hlo::Shape& element : root.tuple) results.push_back({.type = &element});
  } else {
    results.push_back({.type = &root});
  }
  Line(absl::StrCat("func.func public @main(", arguments, ") -> (", Types(results), ") {"));
  ++indent_;
  Leaves given;
  for (const Leaf& parameter : parameters) {
    ASSIGN_OR_RETURN(const Leaves leaves, TakeApart(parameter));
    given.insert(given.end(), leaves.begin(), leaves.end());
  }
  ASSIGN_OR_RETURN(const Leaves leaves, WriteComputation(module_.entry_id(), std::move(given)));
  const Leaf* next = leaves.data();
  for (Leaf& result : results) {
    ASSIGN_OR_RETURN(result, PutTogether(*result.type, next));
  }
  WriteReturn("func.return", results);
  --indent_;
  Line("}");
  return absl::OkStatus();
}

absl::Status Writer::WriteFunction(hlo::ComputationId id) {
  const hlo::Computation& computation = module_.computation(id);
  Leaves arguments, results;
  for (const hlo::NodeId parameter : computation.parameters()) {
    for (const hlo::Shape* leaf : LeavesOf(computation[parameter].shape()))
      arguments.push_back({absl::StrCat("%arg", arguments.size()), leaf});
  }
  for (const hlo::Shape* leaf : LeavesOf(computation.root().shape())) results.push_back({.type = leaf});
  Line(absl::StrCat("func.func private ", functions_.SymbolOf(id), "(", Arguments(arguments), ") -> (",
                    Types(results), ") {"));
  ++indent_;
  ASSIGN_OR_RETURN(const Leaves values, WriteComputation(id, std::move(arguments)));
  WriteReturn("func.return", values);
  --indent_;
  Line("}");
  return absl::OkStatus();
}

absl::StatusOr<Leaves> Writer::WriteComputation(hlo::ComputationId id, Leaves parameters) {
  const hlo::Computation& computation = module_.computation(id);
  std::vector<Leaves> values(computation.size());
  size_t next = 0;
  for (const hlo::NodeId parameter : computation.parameters()) {
    const size_t end = next + LeavesOf(computation[parameter].shape()).size();
    values[parameter].assign(parameters.begin() + static_cast<ptrdiff_t>(next),
                             parameters.begin() + static_cast<ptrdiff_t>(end));
    next = end;
  }
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    if (computation[node].opcode() == hlo::kParameter) continue;
    ASSIGN_OR_RETURN(values[node], WriteInstruction(computation[node], values));
  }
  return std::move(values[computation.root_id()]);
}

absl::StatusOr<Leaves> Writer::Write(OutputOperation draft, const hlo::Shape& result,
                                     const hlo::Notes* notes) {
  if (++operations_ > kOperationsMax) {
    return ResourceExhausted(
        "As StableHLO the program has more operations than the limit (%d): what several "
        "instructions call is written for each.",
        kOperationsMax);
  }
  const Leaves results = NewValues(result);
  text_.append(2 * static_cast<size_t>(indent_), ' ');
  if (!results.empty()) {
    absl::StrAppend(&text_, results[0].name.substr(0, results[0].name.find('#')),
                    results.size() > 1 ? absl::StrCat(":", results.size()) : "", " = ");
  }
  absl::StrAppend(&text_, Quoted(draft.name), "(", Names(draft.operands), ")");
  if (!draft.regions.empty()) {
    text_ += " (";
    for (const Inner& inner : draft.regions) {
      if (&inner != &draft.regions[0]) text_ += ", ";
      RETURN_IF_ERROR(WriteRegion(inner));
    }
    text_ += ")";
  }
  if (notes != nullptr) AddNotes(*notes, draft.attributes);
  if (!draft.attributes.empty()) absl::StrAppend(&text_, " ", TextOf(draft.attributes));
  absl::StrAppend(&text_, " : (", Types(draft.operands), ") -> ", ResultTypes(results),
                  notes != nullptr ? LocationText(notes->metadata) : "", "\n");
  return results;
}

absl::Status Writer::WriteRegion(const Inner& inner) {
  text_ += "{\n";
  ++indent_;
  Leaves parameters;
  if (inner.given.has_value()) {
    parameters = *inner.given;
  } else {
    const hlo::Computation& computation = module_.computation(inner.computation);
    for (const hlo::NodeId parameter : computation.parameters()) {
      for (const hlo::Shape* leaf : LeavesOf(computation[parameter].shape()))
        parameters.push_back({absl::StrCat("%", values_++), leaf});
    }
    if (!parameters.empty()) Line(absl::StrCat("^bb0(", Arguments(parameters), "):"));
  }
  ASSIGN_OR_RETURN(const Leaves values, WriteComputation(inner.computation, std::move(parameters)));
  WriteReturn("stablehlo.return", values);
  --indent_;
  text_.append(2 * static_cast<size_t>(indent_), ' ');
  text_ += "}";
  return absl::OkStatus();
}

void Writer::WriteReturn(std::string_view name, const Leaves& values) {
  Line(absl::StrCat(Quoted(name), "(", Names(values), ") : (", Types(values), ") -> ()"));
}

Leaves Writer::NewValues(const hlo::Shape& shape) {
  const std::vector<const hlo::Shape*> types = LeavesOf(shape);
  Leaves values;
  if (types.empty()) return values;
  const std::string name = absl::StrCat("%", values_++);
  for (size_t i = 0; i < types.size(); ++i)
    values.push_back({types.size() == 1 ? name : absl::StrCat(name, "#", i), types[i]});
  return values;
}

absl::StatusOr<Leaves> Writer::TakeApart(const Leaf& value) {
  if (!value.type->IsTuple()) return Leaves{value};
  Leaves leaves;
  for (size_t i = 0; i < value.type->tuple.size(); ++i) {
    const Leaf element{absl::StrCat("%", values_++), &value.type->tuple[i]};
    Line(absl::StrCat(element.name, " = \"stablehlo.get_tuple_element\"(", value.name, ") {index = ", i,
                      " : i32} : (", TypeText(*value.type), ") -> ", TypeText(*element.type)));
    ASSIGN_OR_RETURN(const Leaves inner, TakeApart(element));
    leaves.insert(leaves.end(), inner.begin(), inner.end());
  }
  return leaves;
}

absl::StatusOr<Leaf> Writer::PutTogether(const hlo::Shape& shape, const Leaf*& next) {
  if (!shape.IsTuple()) return *next++;
  Leaves elements;
  for (const hlo::Shape& element : shape.tuple) {
    ASSIGN_OR_RETURN(elements.emplace_back(), PutTogether(element, next));
  }
  Leaf tuple{absl::StrCat("%", values_++), &shape};
  Line(absl::StrCat(tuple.name, " = \"stablehlo.tuple\"(", Names(elements), ") : (", Types(elements), ") -> ",
                    TypeText(shape)));
  return tuple;
}

void Writer::Line(std::string_view line) {
  text_.append(2 * static_cast<size_t>(indent_), ' ');
  absl::StrAppend(&text_, ToAbsl(line), "\n");
}

}  // namespace hlod::stablehlo::write
