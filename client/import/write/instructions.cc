// Writes instructions: most are a row in a table, the others are here.
#include "absl/strings/str_cat.h"
#include "client/import/write/writer.h"
#include "common/base/errors/status.h"
#include "common/hlo/bitcast.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/opcode.h"

namespace hlod::stablehlo::write {
namespace {

using enum hlo::Opcode;
using hlo::Dims;

// Returns true when the instruction's value is that of its first operand.
bool IsFirstOperand(hlo::Opcode opcode) {
  return opcode == kCopy || opcode == kDomain || opcode == kAddDependency;
}

// Returns the leaves of element `index` among those of a tuple.
Leaves Element(const Leaves& tuple, const hlo::Shape& shape, int64_t index) {
  size_t first = 0;
  const auto count = [](const hlo::Shape& element, const auto& self) -> size_t {
    if (!element.IsTuple()) return 1;
    size_t leaves = 0;
    for (const hlo::Shape& inner : element.tuple) leaves += self(inner, self);
    return leaves;
  };
  for (int64_t i = 0; i < index; ++i) first += count(shape.tuple[static_cast<size_t>(i)], count);
  const size_t end = first + count(shape.tuple[static_cast<size_t>(index)], count);
  return {tuple.begin() + static_cast<ptrdiff_t>(first), tuple.begin() + static_cast<ptrdiff_t>(end)};
}

}  // namespace

absl::StatusOr<Leaves> Writer::WriteInstruction(hlo::Instruction instruction,
                                                const std::vector<Leaves>& values) {
  const hlo::Opcode opcode = instruction.opcode();
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  if (IsFirstOperand(opcode)) return values[instruction.operands()[0]];
  if (opcode == kGetTupleElement) {
    return Element(values[instruction.operands()[0]], instruction.operand(0).shape(),
                   instruction.attributes<hlo::TupleIndexAttributes>().index);
  }
  if (opcode == kConditional) return Branches(instruction, values);
  OutputOperation draft;
  for (const hlo::NodeId operand : instruction.operands())
    draft.operands.insert(draft.operands.end(), values[operand].begin(), values[operand].end());
  if (opcode == kTuple) return std::move(draft.operands);
  if (opcode == kCall || opcode == kFusion) return Called(instruction, std::move(draft));
  if (opcode == kCustomCall) return CustomCall(instruction, std::move(draft));
  if (opcode == kBitcast) return Bitcast(instruction, std::move(draft.operands[0]));
  if (opcode == kRng) return Random(instruction, std::move(draft));
  if (opcode == kAllToAll) return AllToAll(instruction, std::move(draft));
  if (opcode == kWhile) {
    draft.name = "stablehlo.while";
    draft.regions = {{instruction.called()[1], {}}, {instruction.called()[0], {}}};
    return Write(std::move(draft), instruction.shape(), notes);
  }
  if (opcode == kConstant && instruction.shape().IsTuple()) return Constants(instruction);
  if (opcode == kConvert && instruction.shape().type == hlo::kPred &&
      hlo::IsComplex(instruction.operand(0).shape().type)) {
    return NotZero(instruction, std::move(draft));
  }
  if (opcode == kConvolution) RETURN_IF_ERROR(JoinTypes(instruction, draft));
  const Row* const row = FindRow(opcode);
  if (row == nullptr) {
    return Unimplemented("%s (%s) cannot be written as StableHLO.", instruction.name(), hlo::Name(opcode));
  }
  draft.name = row->name;
  if (row->attributes != nullptr) row->attributes(instruction, draft.attributes);
  for (const hlo::ComputationId called : instruction.called()) draft.regions.push_back({called, {}});
  // In StableHLO tokens come after tokens only; the order of the operations says the rest.
  if (opcode == kAfterAll)
    std::erase_if(draft.operands, [](const Leaf& leaf) { return !leaf.type->IsToken(); });
  // A token without operands has an operation of its own.
  if (opcode == kAfterAll && draft.operands.empty()) draft.name = "stablehlo.create_token";
  return Write(std::move(draft), instruction.shape(), notes);
}

// Writes the reshapes and transposes that a bitcast performs.
absl::StatusOr<Leaves> Writer::Bitcast(hlo::Instruction instruction, Leaf value) {
  ASSIGN_OR_RETURN(const hlo::BitcastForm form, hlo::BitcastFormOf(instruction));
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  const auto append = [&](const char* name, hlo::PrimitiveType type, const Dims& dims,
                          AttributeMap attributes) -> absl::Status {
    if (attributes.empty() && type == value.type->type && dims == value.type->dims) return absl::OkStatus();
    shapes_.push_back(hlo::Shape::Array(type, dims));
    OutputOperation draft{.name = name, .operands = {value}, .attributes = std::move(attributes)};
    ASSIGN_OR_RETURN(const Leaves written, Write(std::move(draft), shapes_.back(), notes));
    value = written[0];
    return absl::OkStatus();
  };
  const auto reorder = [&](const std::vector<hlo::Reordering>& steps) -> absl::Status {
    for (const hlo::Reordering& step : steps) {
      const hlo::PrimitiveType type = value.type->type;
      RETURN_IF_ERROR(append("stablehlo.reshape", type, step.dims, {}));
      Dims dims;
      for (const int64_t d : step.permutation) dims.push_back(step.dims[static_cast<size_t>(d)]);
      RETURN_IF_ERROR(
          append("stablehlo.transpose", type, dims, {{"permutation", Numbers(step.permutation)}}));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(reorder(form.to_memory));
  const hlo::Shape& result = instruction.shape();
  if (hlo::Info(result.type).bits != hlo::Info(value.type->type).bits) {
    return Unimplemented("%s (bitcast) cannot be written as StableHLO: it changes the width of elements.",
                         instruction.name());
  }
  RETURN_IF_ERROR(append("stablehlo.bitcast_convert", result.type, value.type->dims, {}));
  RETURN_IF_ERROR(reorder(form.from_memory));
  RETURN_IF_ERROR(append("stablehlo.reshape", result.type, result.dims, {}));
  return Leaves{value};
}

// Writes one constant per element of a tuple.
absl::StatusOr<Leaves> Writer::Constants(hlo::Instruction instruction) {
  Leaves values;
  for (const hlo::Literal* leaf : instruction.literal().Leaves()) {
    shapes_.push_back(leaf->shape());
    OutputOperation constant{.name = "stablehlo.constant"};
    constant.attributes["value"] = {*leaf};
    ASSIGN_OR_RETURN(const Leaves value, Write(std::move(constant), shapes_.back()));
    values.push_back(value[0]);
  }
  return values;
}

// HLO convolves operands of different types, computing in the result's. StableHLO's operands have one type,
// which must hold both: the wider one, or for an integer and a float the result's.
absl::Status Writer::JoinTypes(hlo::Instruction instruction, OutputOperation& draft) {
  const hlo::PrimitiveType lhs = draft.operands[0].type->type, rhs = draft.operands[1].type->type;
  if (lhs == rhs) return absl::OkStatus();
  const auto both = [&](bool (*is)(hlo::PrimitiveType)) { return is(lhs) && is(rhs); };
  const bool alike =
      both(hlo::IsFloat) || both(hlo::IsSigned) || both(hlo::IsUnsigned) || both(hlo::IsComplex);
  const hlo::PrimitiveType wider = hlo::Info(lhs).bits > hlo::Info(rhs).bits ? lhs : rhs;
  const bool holds = alike && hlo::Info(lhs).bits != hlo::Info(rhs).bits;
  const hlo::PrimitiveType type = holds ? wider : instruction.shape().type;
  for (Leaf& operand : draft.operands) {
    if (operand.type->type == type) continue;
    shapes_.push_back(hlo::Shape::Array(type, operand.type->dims));
    ASSIGN_OR_RETURN(const Leaves converted,
                     Write({.name = "stablehlo.convert", .operands = {operand}}, shapes_.back()));
    operand = converted[0];
  }
  return absl::OkStatus();
}

// A complex number is true when any part is nonzero; StableHLO's convert reads the real part alone.
absl::StatusOr<Leaves> Writer::NotZero(hlo::Instruction instruction, OutputOperation draft) {
  const hlo::Shape& operand = instruction.operand(0).shape();
  shapes_.push_back(hlo::Shape::Array(operand.type, operand.dims));
  OutputOperation zero{.name = "stablehlo.constant"};
  zero.attributes["value"] = {hlo::Literal(shapes_.back())};
  ASSIGN_OR_RETURN(const Leaves zeros, Write(std::move(zero), shapes_.back()));
  draft.name = "stablehlo.compare";
  draft.operands.push_back(zeros[0]);
  draft.attributes["comparison_direction"] = Enum("comparison_direction", "NE");
  return Write(std::move(draft), instruction.shape(), instruction.computation().notes(instruction.id()));
}

// Writes a call. The name and attributes of a composite are among its frontend attributes.
absl::StatusOr<Leaves> Writer::Called(hlo::Instruction instruction, OutputOperation draft) {
  const hlo::Notes* const notes = instruction.computation().notes(instruction.id());
  Attribute callee{Symbol{functions_.SymbolOf(instruction.called()[0]).substr(1)}};
  draft.name = "func.call";
  const auto* const call = std::get_if<hlo::CallAttributes>(&instruction.attributes());
  if (call == nullptr || !call->is_composite || notes == nullptr) {
    draft.attributes["callee"] = std::move(callee);
    return Write(std::move(draft), instruction.shape(), notes);
  }
  hlo::Notes others = *notes;
  const auto take = [&](const char* name) {
    const auto found = others.frontend_attributes.find(absl::StrCat("composite.", name));
    if (found == others.frontend_attributes.end()) return std::string();
    std::string value = std::move(found->second);
    others.frontend_attributes.erase(found);
    return value;
  };
  draft.name = "stablehlo.composite";
  draft.attributes["decomposition"] = std::move(callee);
  draft.attributes["name"] = {take("name")};
  if (std::string attributes = take("attributes"); attributes.starts_with('{'))
    draft.attributes["composite_attributes"] = {Word{std::move(attributes)}};
  if (std::string version = take("version"); !version.empty())
    draft.attributes["version"] = {Word{absl::StrCat(version, " : i32")}};
  return Write(std::move(draft), instruction.shape(), &others);
}

absl::StatusOr<Leaves> Writer::CustomCall(hlo::Instruction instruction, OutputOperation draft) {
  constexpr int32_t kTypedFfi = 4;
  const auto& call = instruction.attributes<hlo::CustomCallAttributes>();
  draft.name = "stablehlo.custom_call";
  draft.attributes["call_target_name"] = {call.target};
  draft.attributes["api_version"] = Number(call.api_version, hlo::kS32);
  draft.attributes["has_side_effect"] = Bool(call.has_side_effect);
  // A typed call's payload is a dictionary, as text.
  if (call.api_version == kTypedFfi && call.backend_config.starts_with('{')) {
    draft.attributes["backend_config"] = {Word{call.backend_config}};
  } else if (!call.backend_config.empty()) {
    draft.attributes["backend_config"] = {call.backend_config};
  }
  std::vector<Attribute> called;
  for (const hlo::ComputationId id : instruction.called())
    called.push_back({Symbol{functions_.SymbolOf(id).substr(1)}});
  if (!called.empty()) draft.attributes["called_computations"] = {std::move(called)};
  return Write(std::move(draft), instruction.shape(), instruction.computation().notes(instruction.id()));
}

absl::StatusOr<Leaves> Writer::AllToAll(hlo::Instruction instruction, OutputOperation draft) {
  const auto& collective = instruction.attributes<hlo::CollectiveAttributes>();
  const std::vector<hlo::Dims> groups = hlo::ListGroups(collective.groups);
  if (collective.dimensions.empty() || groups.empty()) {
    return Unimplemented("%s (all-to-all) cannot be written as StableHLO: its %s.", instruction.name(),
                         groups.empty() ? "groups are not stated" : "operands are the pieces");
  }
  draft.name = "stablehlo.all_to_all";
  draft.attributes["split_dimension"] = draft.attributes["concat_dimension"] =
      Number(collective.dimensions[0]);
  draft.attributes["split_count"] = Number(static_cast<int64_t>(groups[0].size()));
  AddGroups(instruction, draft.attributes);
  return Write(std::move(draft), instruction.shape(), instruction.computation().notes(instruction.id()));
}

// StableHLO's branches have no operands: the regions use outer values.
absl::StatusOr<Leaves> Writer::Branches(hlo::Instruction instruction, const std::vector<Leaves>& values) {
  OutputOperation draft;
  draft.operands = values[instruction.operands()[0]];
  draft.name = instruction.operand(0).shape().type == hlo::kPred ? "stablehlo.if" : "stablehlo.case";
  for (size_t i = 0; i < instruction.called().size(); ++i)
    draft.regions.push_back({instruction.called()[i], values[instruction.operands()[i + 1]]});
  return Write(std::move(draft), instruction.shape(), instruction.computation().notes(instruction.id()));
}

// In StableHLO the sizes of the result are an operand.
absl::StatusOr<Leaves> Writer::Random(hlo::Instruction instruction, OutputOperation draft) {
  static constexpr std::string_view kWords[] = {"INVALID", "UNIFORM", "NORMAL"};
  const hlo::Dims& dims = instruction.shape().dims;
  hlo::Literal sizes(hlo::Shape::Array(hlo::kS64, {static_cast<int64_t>(dims.size())}));
  std::copy(dims.begin(), dims.end(), sizes.data<int64_t>().begin());
  shapes_.push_back(sizes.shape());
  OutputOperation constant{.name = "stablehlo.constant"};
  constant.attributes["value"] = {std::move(sizes)};
  ASSIGN_OR_RETURN(const Leaves shape, Write(std::move(constant), shapes_.back()));
  draft.name = "stablehlo.rng";
  draft.operands.push_back(shape[0]);
  const auto distribution = instruction.attributes<hlo::RngAttributes>().distribution;
  draft.attributes["rng_distribution"] = Enum("rng_distribution", kWords[static_cast<size_t>(distribution)]);
  return Write(std::move(draft), instruction.shape(), instruction.computation().notes(instruction.id()));
}

}  // namespace hlod::stablehlo::write
