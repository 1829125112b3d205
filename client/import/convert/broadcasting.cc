// CHLO's operations whose operands may have different shapes: each operand is broadcast to the common shape,
// as in NumPy, and the operation without broadcasting follows.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/import/convert/conversion.h"
#include "client/import/convert/scope.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo {
namespace {

// Returns the dimensions of a result of `rank` that an operand's dimensions map to: the last ones, unless the
// program states others.
Dims PlacesOf(Conversion& c, size_t operand, int64_t rank) {
  const int64_t own = c.shape(operand).rank();
  if (own < rank && c.Has("broadcast_dimensions")) return c.Integers("broadcast_dimensions");
  Dims places;
  for (int64_t d = 0; d < own; ++d) places.push_back(rank - own + d);
  return places;
}

// Returns the common shape of all operands.
Dims TogetherOf(Conversion& c, int64_t rank) {
  Dims sizes(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Dims places = PlacesOf(c, i, rank);
    const Dims& own = c.shape(i).dims;
    bool fits = places.size() == own.size();
    for (size_t d = 0; d < own.size() && fits; ++d) {
      fits = places[d] >= 0 && places[d] < rank && (d == 0 || places[d] > places[d - 1]);
      if (!fits || own[d] == 1) continue;
      int64_t& size = sizes[static_cast<size_t>(places[d])];
      fits = size == 1 || size == own[d];
      size = own[d];
    }
    if (fits) continue;
    c.Fail(InvalidArgument("Operand %d (%s) does not broadcast to the shape of the others.", i,
                           hlo::ToStringNoLayout(c.shape(i))));
    break;
  }
  return sizes;
}

// Converts "chlo.broadcast_add" to stablehlo.add of broadcast operands, "chlo.broadcast_zeta" to chlo.zeta.
Values Broadcasting(Conversion& c) {
  const std::string_view name = c.rule.name.substr(std::string_view("chlo.broadcast_").size());
  const Rule* rule = FindRule(absl::StrCat("stablehlo.", ToAbsl(name)));
  if (rule == nullptr) rule = FindRule(absl::StrCat("chlo.", ToAbsl(name)));
  if (rule == nullptr) return c.Fail(Unimplemented("It has no conversion to HLO.")), Values{};
  int64_t rank = 0;
  for (size_t i = 0; i < c.operands.size(); ++i) rank = std::max(rank, c.shape(i).rank());
  const Dims sizes = TogetherOf(c, rank);
  std::vector<Op> operands;
  // HLO's select also takes a single predicate for all elements.
  const bool is_select = rule->opcode == hlo::kSelect;
  for (size_t i = 0; i < c.operands.size() && c.status().ok(); ++i) {
    const bool stays = is_select && i == 0 && c.shape(0).IsScalar();
    operands.push_back(stays ? c.operand(i) : BroadcastInDim(c, c.operand(i), sizes, PlacesOf(c, i, rank)));
  }
  if (!c.status().ok()) return {};
  Operation operation = {.name = std::string(rule->name),
                         .operands = c.op.operands,
                         .results = c.op.results,
                         .attributes = c.op.attributes,
                         .location = c.op.location};
  for (Value& result : operation.results) result.type.dims = sizes, result.type.dynamic.clear();
  Conversion inner(c.scope, operation, *rule, std::move(operands));
  Values values = rule->convert(inner);
  if (!inner.status().ok()) c.Fail(inner.status());
  return values;
}

// Fills the shape of an operand, whose sizes may be known only here, with one number.
Values ConstantLike(Conversion& c) {
  const Attribute* const value = c.Find("value");
  const auto* const integer = value == nullptr ? nullptr : std::get_if<int64_t>(&value->value);
  const bool is_number =
      integer != nullptr || (value != nullptr && std::holds_alternative<double>(value->value));
  if (!is_number) return c.Fail(InvalidArgument("It has no attribute value that is a number.")), Values{};
  const hlo::PrimitiveType type = c.stated().type;
  if (!hlo::IsInteger(type) && !hlo::IsFloat(type) && !hlo::IsComplex(type)) {
    c.Fail(
        InvalidArgument("Its result has the type %s; expected a type of numbers, as its value is a number.",
                        hlo::Name(type)));
    return {};
  }
  const hlo::Literal wide =
      integer != nullptr ? hlo::Literal::Scalar(*integer) : hlo::Literal::Scalar(c.Float("value"));
  return {c.b.Broadcast(c.b.Convert(c.b.Constant(wide), type), c.shape(0).dims, {})};
}

constexpr Rule Binary(std::string_view name) { return {name, Broadcasting, 2}; }

constexpr Rule kBroadcastingRules[] = {
    Binary("chlo.broadcast_add"),
    Binary("chlo.broadcast_and"),
    Binary("chlo.broadcast_atan2"),
    Binary("chlo.broadcast_compare"),
    Binary("chlo.broadcast_complex"),
    Binary("chlo.broadcast_divide"),
    Binary("chlo.broadcast_maximum"),
    Binary("chlo.broadcast_minimum"),
    Binary("chlo.broadcast_multiply"),
    Binary("chlo.broadcast_next_after"),
    Binary("chlo.broadcast_or"),
    Binary("chlo.broadcast_polygamma"),
    Binary("chlo.broadcast_power"),
    Binary("chlo.broadcast_remainder"),
    Binary("chlo.broadcast_shift_left"),
    Binary("chlo.broadcast_shift_right_arithmetic"),
    Binary("chlo.broadcast_shift_right_logical"),
    Binary("chlo.broadcast_subtract"),
    Binary("chlo.broadcast_xor"),
    Binary("chlo.broadcast_zeta"),
    {"chlo.broadcast_select", Broadcasting, 3},
    {"chlo.constant_like", ConstantLike, 1},
};

}  // namespace

absl::Span<const Rule> BroadcastingRules() { return kBroadcastingRules; }

}  // namespace hlod::stablehlo
