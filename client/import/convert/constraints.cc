// Constraints of StableHLO's verifier that HLO's shape inference does not check, in one row per operation.
// Constraints that HLO checks, too, are left out.
#include "client/import/convert/constraints.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "client/import/convert/scope.h"
#include "client/import/program/attribute_text.h"
#include "common/base/text/strings.h"

namespace hlod::stablehlo {
namespace {

using AttributeList = std::vector<Attribute>;

const AttributeList* ListOf(Conversion& c, std::string_view name) {
  const Attribute* const attribute = c.Find(name);
  return attribute == nullptr ? nullptr : std::get_if<AttributeList>(&attribute->value);
}

// Returns the length of a list of attributes, or of integers that may have been made from one.
std::optional<size_t> LengthOf(Conversion& c, std::string_view name) {
  if (const AttributeList* const list = ListOf(c, name)) return list->size();
  const Attribute* const attribute = c.Find(name);
  const auto* const integers = attribute == nullptr ? nullptr : std::get_if<Integers>(&attribute->value);
  return integers == nullptr ? std::nullopt : std::optional(integers->size());
}

void CheckPrecision(Conversion& c) {
  constexpr size_t kOperands = 2;
  const AttributeList* const precision = ListOf(c, "precision_config");
  if (precision != nullptr && precision->size() > kOperands) {
    c.Fail(InvalidArgument("Its precision_config has (%d) words; expected one per operand (%d).",
                           precision->size(), kOperands));
  }
}

void CheckConvolution(Conversion& c) {
  CheckPrecision(c);
  if (c.shape(0).type == c.shape(1).type) return;
  c.Fail(InvalidArgument("Its operands have elements of types %s and %s; expected equal element types.",
                         hlo::Name(c.shape(0).type), hlo::Name(c.shape(1).type)));
}

void CheckDotGeneral(Conversion& c) {
  CheckPrecision(c);
  if (!c.Has("accumulation_type") || !c.Has("lhs_precision_type") ||
      PlainText(*c.Find("accumulation_type")) == "none" ||
      std::holds_alternative<std::monostate>(c.Find("accumulation_type")->value)) {
    return;
  }
  for (const char* const count : {"lhs_component_count", "rhs_component_count", "num_primitive_operations"}) {
    const int64_t value = c.Integer(count, 1);
    if (value < 1)
      return c.Fail(InvalidArgument("The %s of its algorithm is (%d); expected at least 1.", count, value));
    if (value > 1 && count != std::string_view("num_primitive_operations"))
      return c.Fail(
          Unimplemented("The %s of its algorithm is (%d); no known algorithm has this value.", count, value));
  }
  const AttributeList* const precision = ListOf(c, "precision_config");
  if (precision == nullptr) return;
  for (const Attribute& word : *precision) {
    if (PlainText(word) != "DEFAULT")
      return c.Fail(InvalidArgument(
          "It has an algorithm and the precision %s; expected the precision DEFAULT with an algorithm.",
          PlainText(word)));
  }
}

// A rule for the numbers in groups: each occurs once, and with `all` every number occurs. With `padded`, -1
// fills short rows.
struct GroupRule {
  bool all, padded;
};
void CheckGroups(Conversion& c, GroupRule rule) {
  const Attribute* const attribute = c.Find("replica_groups");
  const auto* const rows = attribute == nullptr ? nullptr : std::get_if<hlo::Literal>(&attribute->value);
  // The groups are those of a mesh, or their reader refuses them.
  if (rows == nullptr || rows->shape().rank() != 2) return;
  absl::flat_hash_set<int64_t> seen;
  for (const int64_t id : c.Integers("replica_groups")) {
    if (id == -1 && rule.padded) continue;
    if (id < 0)
      return c.Fail(
          InvalidArgument("Its replica_groups have the participant (%d); expected at least 0.", id));
    if (!seen.insert(id).second)
      return c.Fail(InvalidArgument("Its replica_groups have participant (%d) twice.", id));
  }
  for (int64_t id = 0; rule.all && id < static_cast<int64_t>(seen.size()); ++id) {
    if (!seen.contains(id)) {
      return c.Fail(InvalidArgument(
          "Its replica_groups have (%d) participants, but participant (%d) is missing.", seen.size(), id));
    }
  }
}

// Checks that ids over replicas and partitions together come with a channel and groups.
void CheckGlobal(Conversion& c) {
  if (!c.Bool("use_global_device_ids")) return;
  const int64_t channel = c.Integer("channel_id", 0);
  if (channel < 1) {
    c.Fail(InvalidArgument(
        "It has use_global_device_ids and the channel_id (%d); expected a positive channel_id.", channel));
  }
}

void CheckAllReduce(Conversion& c) {
  CheckGlobal(c);
  CheckGroups(c, {.all = true, .padded = true});
  const Attribute* const groups = c.Find("replica_groups");
  const bool by_mesh = groups != nullptr && std::holds_alternative<Word>(groups->value);
  if (c.Bool("use_global_device_ids") && !by_mesh && c.Integers("replica_groups").empty())
    c.Fail(InvalidArgument("It has use_global_device_ids, but its replica_groups have no participants."));
}
void CheckReduceScatter(Conversion& c) {
  CheckGlobal(c);
  CheckGroups(c, {.all = true, .padded = false});
}
void CheckAllGather(Conversion& c) { CheckGroups(c, {.all = true, .padded = false}); }
void CheckBroadcast(Conversion& c) { CheckGroups(c, {.all = false, .padded = false}); }

void CheckAllToAll(Conversion& c) {
  CheckGroups(c, {.all = true, .padded = false});
  const Attribute* const attribute = c.Find("replica_groups");
  const auto* const rows = attribute == nullptr ? nullptr : std::get_if<hlo::Literal>(&attribute->value);
  const int64_t count = c.Integer("split_count", 0);
  if (rows == nullptr || rows->shape().rank() != 2 || rows->shape().dims[1] == count) return;
  c.Fail(InvalidArgument(
      "Its split_count is (%d), but its replica_groups have (%d) participants each; expected equal numbers.",
      count, rows->shape().dims[1]));
}

// Checks the lists of dimensions of the operand that are stated to be expanded or not expanded.
void CheckExpansions(Conversion& c) {
  absl::flat_hash_set<int64_t> seen;
  for (const char* const name : {"known_expanding_dimensions", "known_nonexpanding_dimensions"}) {
    for (const int64_t d : c.Integers(name, /*required=*/false)) {
      if (d >= 0 && d < c.shape(0).rank() && seen.insert(d).second) continue;
      c.Fail(InvalidArgument("Its %s has (%d); expected each of the operand's (%d) dimensions at most once.",
                             name, d, c.shape(0).rank()));
    }
  }
}

// HLO's after-all takes arrays, too.
void CheckAfterAll(Conversion& c) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.shape(i).IsToken())
      return c.Fail(
          InvalidArgument("Operand %d is %s; expected a token.", i, hlo::ToStringNoLayout(c.shape(i))));
  }
}

void CheckRng(Conversion& c) {
  for (const size_t i : {0, 1}) {
    if (c.shape(i).rank() != 0 || c.shape(i).type != c.stated().type)
      return c.Fail(InvalidArgument("Operand %d is %s; expected a scalar of the result's type %s.", i,
                                    hlo::ToStringNoLayout(c.shape(i)), hlo::Name(c.stated().type)));
  }
  if (c.shape(2).rank() != 1)
    return c.Fail(InvalidArgument("Operand 2 is %s; expected a one-dimensional array of sizes.",
                                  hlo::ToStringNoLayout(c.shape(2))));
  const Attribute* const distribution = c.Find("rng_distribution");
  if (distribution == nullptr) return;  // The operation's own rule reports a missing attribute.
  if (PlainText(*distribution) == "NORMAL" && !hlo::IsFloat(c.stated().type))
    return c.Fail(InvalidArgument(
        "Its distribution is NORMAL, but its result has the type %s; expected a floating-point type.",
        hlo::Name(c.stated().type)));
  const Integers* const sizes = c.scope.Known(c.operand(2));
  if (sizes == nullptr || IsUnknown(c.stated()) || std::ranges::equal(*sizes, c.stated().dims)) return;
  c.Fail(InvalidArgument("Operand 2 states other sizes than the result has (%s).",
                         hlo::ToStringNoLayout(c.stated())));
}

// Checks the layouts of all values of one kind. A tuple has none, or that of its leaves.
void CheckLayouts(Conversion& c, std::string_view name, size_t values,
                  const std::function<const Shape&(size_t)>& shape) {
  const AttributeList* const layouts = ListOf(c, name);
  const size_t count = LengthOf(c, name).value_or(0);
  if (count != values)
    return c.Fail(InvalidArgument("Its %s are (%d); expected one per value (%d).", name, count, values));
  for (size_t i = 0; layouts != nullptr && i < count; ++i) {
    const auto* const order = std::get_if<Integers>(&(*layouts)[i].value);
    if (order == nullptr || !shape(i).IsArray()) continue;
    Integers sorted = *order;
    std::ranges::sort(sorted);
    bool is_order = sorted.size() == shape(i).dims.size();
    for (size_t d = 0; d < sorted.size() && is_order; ++d) is_order = sorted[d] == static_cast<int64_t>(d);
    if (!is_order) {
      return c.Fail(
          InvalidArgument("The layout %d of its %s is %s, which does not order the dimensions of %s.", i,
                          name, TextOf((*layouts)[i]), hlo::ToStringNoLayout(shape(i))));
    }
  }
}

// Returns the part of a tuple that an index leads to; null: the index is out of range.
const Shape* PartOf(const Shape& whole, const Attribute* index) {
  const auto* const path = index == nullptr ? nullptr : std::get_if<Integers>(&index->value);
  return path == nullptr ? &whole : hlo::SubShape(whole, *path);
}

void CheckAliases(Conversion& c) {
  const AttributeList* const aliases = ListOf(c, "output_operand_aliases");
  if (aliases == nullptr) return;
  const Type results = c.StatedTogether();
  for (const Attribute& entry : *aliases) {
    const AttributeMap* const alias = MapOf(&entry);
    const Attribute* const number = alias == nullptr ? nullptr : Find(*alias, "operand_index");
    const auto* const operand = number == nullptr ? nullptr : std::get_if<int64_t>(&number->value);
    if (operand == nullptr) continue;
    if (*operand < 0 || *operand >= static_cast<int64_t>(c.operands.size())) {
      return c.Fail(InvalidArgument("Its output_operand_aliases name operand (%d) of (%d).", *operand,
                                    c.operands.size()));
    }
    const Shape* const from =
        PartOf(c.shape(static_cast<size_t>(*operand)), Find(*alias, "operand_tuple_indices"));
    const Shape* const to = PartOf(results, Find(*alias, "output_tuple_indices"));
    if (from == nullptr || to == nullptr)
      return c.Fail(
          InvalidArgument("Its output_operand_aliases name a part that does not exist: %s.", TextOf(entry)));
    if (!Refines(*from, *to)) {
      return c.Fail(InvalidArgument("Its output_operand_aliases have %s for a result of %s.",
                                    hlo::ToStringNoLayout(*from), hlo::ToStringNoLayout(*to)));
    }
  }
}

void CheckCustomCall(Conversion& c) {
  CheckAliases(c);
  const bool of_operands = c.Has("operand_layouts"), of_results = c.Has("result_layouts");
  if (!of_operands && !of_results) return;
  if (of_operands != of_results) {
    return c.Fail(
        InvalidArgument("It has only %s; expected layouts of both operands and results, or of neither.",
                        of_operands ? "operand_layouts" : "result_layouts"));
  }
  // An artifact always has both attributes, empty when the program states none.
  if (LengthOf(c, "operand_layouts") == 0 && LengthOf(c, "result_layouts") == 0) return;
  CheckLayouts(c, "operand_layouts", c.operands.size(), [&](size_t i) -> const Shape& { return c.shape(i); });
  const bool is_tuple = c.op.results.size() == 1 && c.stated().IsTuple();
  CheckLayouts(c, "result_layouts", is_tuple ? c.stated().tuple.size() : c.op.results.size(),
               [&](size_t i) -> const Shape& { return is_tuple ? c.stated().tuple[i] : c.stated(i); });
}

// Returns the number after "name =" in the text of a structure; 0: it is absent.
double NumberIn(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == text.npos) return 0;
  std::string_view rest = text.substr(at + name.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" ="), rest.size()));
  double number = 0;
  return absl::SimpleAtod(ToAbsl(rest.substr(0, rest.find_first_of(",> "))), &number) ? number : 0;
}

// Checks the stated accuracy of a result: tolerances are not negative, and belong to the stated mode. Results
// here do not depend on it.
void CheckAccuracy(Conversion& c) {
  const Attribute* const attribute = c.Find("result_accuracy");
  const auto* const word = attribute == nullptr ? nullptr : std::get_if<Word>(&attribute->value);
  if (word == nullptr) return;
  for (const char* const name : {"atol", "rtol", "ulps"}) {
    const double tolerance = NumberIn(word->text, name);
    const bool by_tolerance = word->text.find("mode<TOLERANCE") != std::string::npos;
    if (tolerance < 0)
      return c.Fail(
          InvalidArgument("The %s of its result_accuracy is (%g); expected at least 0.", name, tolerance));
    if (tolerance > 0 && !by_tolerance)
      return c.Fail(InvalidArgument("Its result_accuracy has the %s (%g) without the mode TOLERANCE.", name,
                                    tolerance));
  }
}

using Check = void (*)(Conversion&);
constexpr std::pair<std::string_view, Check> kChecks[] = {
    {"stablehlo.after_all", CheckAfterAll},
    {"stablehlo.all_gather", CheckAllGather},
    {"stablehlo.all_reduce", CheckAllReduce},
    {"stablehlo.all_to_all", CheckAllToAll},
    {"stablehlo.collective_broadcast", CheckBroadcast},
    {"stablehlo.convolution", CheckConvolution},
    {"stablehlo.cross-replica-sum", CheckBroadcast},
    {"stablehlo.custom_call", CheckCustomCall},
    {"stablehlo.dot", CheckPrecision},
    {"stablehlo.dot_general", CheckDotGeneral},
    {"stablehlo.dynamic_broadcast_in_dim", CheckExpansions},
    {"stablehlo.dynamic_conv", CheckConvolution},
    {"stablehlo.reduce_scatter", CheckReduceScatter},
    {"stablehlo.rng", CheckRng},
};

}  // namespace

void CheckConstraints(Conversion& c) {
  static const auto* const checks =
      new absl::flat_hash_map<std::string_view, Check>(std::begin(kChecks), std::end(kChecks));
  CheckAccuracy(c);
  const auto found = checks->find(c.rule.name);
  if (found != checks->end()) found->second(c);
}

}  // namespace hlod::stablehlo
