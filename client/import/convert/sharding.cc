// Converts Shardy's operations: constraints to XLA's form, and manual computations to calls between global
// and local shapes.
#include <algorithm>

#include "client/import/convert/conversion.h"
#include "client/import/convert/decoration.h"
#include "client/import/convert/scope.h"
#include "client/import/program/attribute_text.h"

namespace hlod::stablehlo {
namespace {

using enum hlo::Opcode;

Values Constraint(Conversion& c) {
  Decoration& decoration = c.scope.decoration;
  const std::string text = c.Text("sharding", /*required=*/false);
  decoration.frontend_attributes["xla.sdy.sharding"] = text;
  decoration.sharding =
      hlo::OpShardingOf(text, c.scope.converter().meshes(), c.shape(0).dims.size()).value_or("");
  return Instruction(c, kCustomCall, c.operands,
                     hlo::CustomCallAttributes{.target = "Sharding", .api_version = 1});
}

// Adds the custom calls that split values among devices or join them again. Returns `values` when the shapes
// are the same.
std::vector<Op> Reshaped(Conversion& c, std::string target, const std::vector<Op>& values,
                         const std::vector<Type>& types) {
  const auto same = [&](Op value, const Type& type) { return Refines(c.b.shape(value), type); };
  if (std::ranges::equal(values, types, same)) return values;
  const Type together = types.size() == 1 ? types[0] : Type::Tuple(types);
  const hlo::CustomCallAttributes attributes{
      .target = std::move(target), .has_side_effect = true, .api_version = 1};
  const Op call = c.b.Add(kCustomCall, values, attributes, {}, &together);
  if (types.size() == 1) return {call};
  std::vector<Op> elements;
  for (size_t i = 0; i < types.size(); ++i)
    elements.push_back(c.b.GetTupleElement(call, static_cast<int64_t>(i)));
  return elements;
}

// Converts a manual computation, whose body takes and returns one device's parts.
Values ManualComputation(Conversion& c) {
  auto& frontend = c.scope.decoration.frontend_attributes;
  for (const char* name : {"in_shardings", "out_shardings", "manual_axes"}) {
    if (c.Has(name)) frontend[std::string("xla.sdy.") + name] = c.Text(name);
  }
  Scope::RegionForm form;
  if (c.op.regions[0].blocks.size() == 1) {
    for (const Value& argument : c.op.regions[0].blocks[0].arguments) form.shapes.push_back(argument.type);
  }
  if (form.shapes.size() != c.operands.size()) {
    c.Fail(InvalidArgument("It has (%d) operands, but its body takes (%d) arguments.", c.operands.size(),
                           form.shapes.size()));
    return {};
  }
  const ComputationId body = c.Take(c.scope.AddRegion(c.op, c.op.regions[0], form));
  if (!c.status().ok()) return {};
  const std::vector<Op> local = Reshaped(c, "xla.sdy.GlobalToLocalShape", c.operands, form.shapes);
  const Op call = c.b.Call(local, body);
  std::vector<Type> types;
  for (const Value& result : c.op.results) types.push_back(result.type);
  const std::vector<Op> results = Reshaped(
      c, "xla.sdy.LocalToGlobalShape",
      [&] {
        const Values values = c.Results(call);
        return std::vector<Op>(values.begin(), values.end());
      }(),
      types);
  return Values(results.begin(), results.end());
}

// Returns the operands: the operation only renames a value.
Values Same(Conversion& c) { return Values(c.operands.begin(), c.operands.end()); }

Values Nothing(Conversion&) { return {}; }

constexpr Rule kShardingRules[] = {
    {"builtin.unrealized_conversion_cast", Same, 1},
    {"sdy.manual_computation", ManualComputation, -1, -1, 1},
    {"sdy.propagation_barrier", Same, 1},
    {"sdy.reshard", Constraint, 1},
    {"sdy.sharding_constraint", Constraint, 1},
    {"sdy.sharding_group", Nothing, 1, 0},
};

}  // namespace

absl::Span<const Rule> ShardingRules() { return kShardingRules; }

}  // namespace hlod::stablehlo
