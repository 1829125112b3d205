// Converts loops, branches, calls, barriers, random numbers and tokens.
#include <optional>
#include <utility>

#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "client/import/program/attribute_text.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

// Returns a single value unchanged, several values as a tuple.
Op Packed(Conversion& c, absl::Span<const Op> values) {
  return values.size() == 1 ? values[0] : c.b.Tuple(values);
}

std::vector<Op> ValuesOf(Conversion& c, const std::vector<ValueId>& ids) {
  return c.Take(c.scope.FindAll(ids));
}

// The loop's state is its operands, then the outer values that its regions use, which never change.
Values While(Conversion& c) {
  if (c.op.results.size() != c.operands.size()) {
    c.Fail(InvalidArgument("It has (%d) operands and (%d) results; expected equal numbers.",
                           c.operands.size(), c.op.results.size()));
    return {};
  }
  Scope::RegionForm form;
  form.packing = Packing::kTuple;
  form.captured = c.scope.Captured(c.op.regions);
  for (size_t i = 0; i < c.operands.size(); ++i) form.shapes.push_back(c.shape(i));
  const ComputationId condition = c.Take(c.scope.AddRegion(c.op, c.op.regions[0], form));
  if (!c.status().ok()) return {};
  form.return_captured = true;
  const ComputationId body = c.Take(c.scope.AddRegion(c.op, c.op.regions[1], form));
  std::vector<Op> state = c.operands;
  const std::vector<Op> captured = ValuesOf(c, form.captured);
  state.insert(state.end(), captured.begin(), captured.end());
  if (!c.status().ok()) return {};
  const Op loop = c.b.While(Packed(c, state), condition, body);
  if (state.size() == 1) return {loop};
  Values values;
  for (size_t i = 0; i < c.operands.size(); ++i)
    values.push_back(c.b.GetTupleElement(loop, static_cast<int64_t>(i)));
  return values;
}

// Returns the branch that a known operand selects: for an if the first when it is true, for a case the last
// when its number is out of range. Returns nullopt when the operand is not known.
std::optional<size_t> ChosenBranch(Conversion& c) {
  const Integers* const known = c.scope.Known(c.operand(0));
  if (known == nullptr || known->size() != 1 || c.op.regions.empty()) return std::nullopt;
  const int64_t number = known->front();
  const size_t last = c.op.regions.size() - 1;
  if (c.shape(0).type == hlo::kPred) return number != 0 ? 0 : last;
  return number < 0 || number > static_cast<int64_t>(last) ? last : static_cast<size_t>(number);
}

// The outer values that a branch uses become its operands. A branch that is selected by a known number
// replaces the operation: the other branches may be for other platforms.
Values Branches(Conversion& c) {
  if (const std::optional<size_t> chosen = ChosenBranch(c)) {
    const Block* const block = c.Take(Scope::OnlyBlock(c.op.regions[*chosen]));
    if (block == nullptr) return {};
    const Decoration own = std::exchange(c.scope.decoration, {});
    const std::vector<Op> results = c.Take(c.scope.ConvertBlock(*block));
    c.scope.decoration = own;
    return Values(results.begin(), results.end());
  }
  std::vector<Op> operands;
  std::vector<ComputationId> branches;
  for (const Region& region : c.op.regions) {
    Scope::RegionForm form;
    form.packing = Packing::kTuple;
    form.captured = c.scope.Captured(absl::MakeConstSpan(&region, 1));
    branches.push_back(c.Take(c.scope.AddRegion(c.op, region, form)));
    const std::vector<Op> captured = ValuesOf(c, form.captured);
    if (!c.status().ok()) return {};
    operands.push_back(Packed(c, captured));
  }
  if (branches.empty()) return c.Fail(InvalidArgument("It has no branches.")), Values{};
  return c.Results(c.b.Conditional(c.operand(0), operands, branches));
}

// Returns the computation of the function that `attribute` names, over the operands.
ComputationId Callee(Conversion& c, std::string_view attribute) {
  std::vector<Converter::Argument> arguments;
  for (const Op operand : c.operands) {
    arguments.push_back({.shape = c.b.shape(operand), .known = c.scope.KnownLiteral(operand)});
  }
  const std::string name = c.Text(attribute);
  if (!c.status().ok()) return 0;
  return c.Take(c.scope.converter().FunctionOf(name, arguments, c.op));
}

Values Call(Conversion& c) {
  const ComputationId callee = Callee(c, "callee");
  return Instruction(c, kCall, c.operands, hlo::CallAttributes{}, {callee});
}

// Converts a composite of CHLO's operations to that operation, another one to a call of its decomposition.
Values Composite(Conversion& c) {
  const std::string name = c.Text("name");
  const Attribute* const given = c.Find("composite_attributes");
  const auto* const attributes =
      given == nullptr ? nullptr : std::get_if<std::shared_ptr<AttributeMap>>(&given->value);
  const bool has_attributes = attributes != nullptr && *attributes != nullptr;
  if (name.starts_with("chlo.")) {
    if (std::optional<Values> values = ConvertAs(c, name, has_attributes ? &**attributes : nullptr))
      return *values;
  }
  const ComputationId callee = Callee(c, "decomposition");
  auto& frontend = c.scope.decoration.frontend_attributes;
  frontend["composite.name"] = name;
  frontend["composite.attributes"] = has_attributes ? TextOf(**attributes) : "{}";
  frontend["composite.version"] = std::to_string(c.Integer("version", 0));
  return Instruction(c, kCall, c.operands, hlo::CallAttributes{.is_composite = true}, {callee});
}

// Runs the asynchronous operation at once: the future is the tuple of its results.
Values AsyncStart(Conversion& c) {
  Scope::RegionForm form;
  for (size_t i = 0; i < c.operands.size(); ++i) form.shapes.push_back(c.shape(i));
  const ComputationId body = c.Take(c.scope.AddRegion(c.op, c.op.regions[0], form));
  if (!c.status().ok()) return {};
  const Op results = c.b.Call(c.operands, body);
  return {c.b.shape(results).IsTuple() ? results : c.b.Tuple({results})};
}

Values AsyncDone(Conversion& c) {
  const Shape& future = c.shape(0);
  if (!future.IsTuple() || future.tuple.size() != c.op.results.size()) {
    c.Fail(InvalidArgument("Its operand %s does not have one element per result (%d results).",
                           hlo::ToStringNoLayout(future), c.op.results.size()));
    return {};
  }
  Values values;
  for (size_t i = 0; i < c.op.results.size(); ++i)
    values.push_back(c.b.GetTupleElement(c.operand(0), static_cast<int64_t>(i)));
  return values;
}

Values OptimizationBarrier(Conversion& c) {
  if (c.operands.empty()) return {};
  return c.Results(c.b.Add(kOptBarrier, {Packed(c, c.operands)}));
}

Values Rng(Conversion& c) {
  static constexpr std::string_view kWords[] = {"UNIFORM", "NORMAL"};
  hlo::RngAttributes attributes;
  attributes.distribution = static_cast<hlo::RandomDistribution>(c.Choice("rng_distribution", kWords, 1));
  Type stated = c.stated();
  if (const Integers* known = c.scope.Known(c.operand(2)); IsUnknown(stated) && known != nullptr) {
    stated.dims.assign(known->begin(), known->end());
  }
  return {c.b.Add(kRng, c.Slice(0, 2), attributes, {}, &stated)};
}

Values RngBitGenerator(Conversion& c) { return RandomBits(c, c.StatedTogether()); }

constexpr Rule kControlRules[] = {
    {"func.call", Call, -1, -1},
    {"stablehlo.after_all", Plain, -1, 1, 0, kAfterAll},
    {"stablehlo.async_done", AsyncDone, 1, -1},
    {"stablehlo.async_start", AsyncStart, -1, 1, 1},
    {"stablehlo.case", Branches, 1, -1, -1},
    {"stablehlo.composite", Composite, -1, -1, -1},
    {"stablehlo.create_token", Plain, 0, 1, 0, kAfterAll},
    {"stablehlo.if", Branches, 1, -1, 2},
    {"stablehlo.optimization_barrier", OptimizationBarrier, -1, -1},
    {"stablehlo.partition_id", Plain, 0, 1, 0, kPartitionId},
    {"stablehlo.replica_id", Plain, 0, 1, 0, kReplicaId},
    {"stablehlo.rng", Rng, 3},
    {"stablehlo.rng_bit_generator", RngBitGenerator, 1, 2},
    {"stablehlo.while", While, -1, -1, 2},
};

}  // namespace

absl::Span<const Rule> ControlRules() { return kControlRules; }

Values RandomBits(Conversion& c, const Type& stated) {
  static constexpr std::string_view kWords[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
  hlo::RngBitGeneratorAttributes attributes;
  attributes.algorithm = static_cast<hlo::RandomAlgorithm>(c.Choice("rng_algorithm", kWords, 0));
  if (!c.status().ok()) return {};
  return c.Results(c.b.Add(kRngBitGenerator, c.Slice(0, 1), attributes, {}, &stated));
}

}  // namespace hlod::stablehlo
