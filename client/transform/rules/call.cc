// Derivatives of calls. A composite call is a checkpoint: its results are kept, and its other values are
// recomputed from its arguments, which pass through an optimization barrier so that the recomputation is not
// merged with the first computation.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/functions/custom_rule.h"

namespace hlod::lazy {
namespace {

bool IsCheckpoint(const hlo::Instruction& call) {
  return call.attributes<hlo::CallAttributes>().is_composite;
}

constexpr char kKept[] = "checkpoint_kept";

void SetResults(RecomputedPrimals& values, NodeId node, bool single, std::vector<Op> results) {
  if (single) values.Set(node, results[0]);
  else values.SetElements(node, std::move(results));
}

}  // namespace

void SetKept(hlo::Notes& notes, const std::vector<size_t>& kept) {
  notes.frontend_attributes[kKept] = absl::StrJoin(kept, ",");
}

std::vector<size_t> KeptOf(const hlo::Computation& computation, NodeId call) {
  std::vector<size_t> kept;
  const hlo::Notes* const notes = computation.notes(call);
  if (notes == nullptr) return kept;
  const auto found = notes->frontend_attributes.find(kKept);
  if (found == notes->frontend_attributes.end()) return kept;
  for (const absl::string_view word : absl::StrSplit(found->second, ',', absl::SkipEmpty())) {
    uint64_t index = 0;
    if (absl::SimpleAtoi(word, &index)) kept.push_back(index);
  }
  return kept;
}

// Replaces a plain call by the callee's instructions with their tangents. A checkpoint becomes a checkpoint
// of values and tangents.
Tangents CallJvp(const JvpArgs& c) {
  // A custom rule whose call reverse mode has widened is not used: the call is differentiated in its current
  // form.
  const std::optional<CustomRule> rule = CustomRuleOf(c.part.computation, c.node);
  if (rule.has_value() && !rule->widened) return CustomRuleJvp(c, *rule);
  const CalleeBody body = BodyOf(c.instruction().called()[0]);
  const bool checkpoint = IsCheckpoint(c.instruction()) && !rule.has_value();
  std::vector<Op> values, tangents;
  for (const NodeId operand : c.Operands()) {
    for (const Leaf& leaf : LeavesOf(c.part.computation, operand)) {
      values.push_back(ValueOf(c.values, leaf));
      tangents.push_back(c.tangent(leaf.node, leaf.element));
    }
  }
  if (!checkpoint) {
    JvpResult pushed = BodyJvp(c.l, body, values, tangents, c.part, c.node);
    SetResults(c.values, c.node, body.single, std::move(pushed.values));
    return pushed.tangents;
  }
  Trace scratch(c.l.graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  const auto parameter = [&](Op like) { return scratch.op(scratch.ArgumentParameter(c.l.shape(like))); };
  std::vector<Op> operands = values, parameters, inner_tangents(values.size());
  for (const Op value : values) parameters.push_back(parameter(value));
  const std::vector<Op> inner_values = parameters;
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsZero(tangents[i])) continue;
    inner_tangents[i] = parameter(tangents[i]);
    operands.push_back(tangents[i]);
    parameters.push_back(inner_tangents[i]);
  }
  const JvpResult pushed = BodyJvp(inner, body, inner_values, inner_tangents, c.part, c.node);
  std::vector<Op> outputs = pushed.values;
  for (const Op tangent : pushed.tangents) {
    if (!IsZero(tangent)) outputs.push_back(tangent);
  }
  const Op call = c.l.b.Add(hlo::kCall, operands, hlo::CallAttributes{true},
                            {CalleeOf("checkpoint_jvp", scratch, parameters, outputs, false)});
  std::vector<size_t> kept = KeptOf(c.part.computation, c.node);
  const size_t of_values = kept.size();
  for (size_t i = 0, next = pushed.values.size(); i < pushed.tangents.size(); ++i) {
    if (IsZero(pushed.tangents[i])) continue;
    const auto end = kept.begin() + static_cast<ptrdiff_t>(of_values);
    if (std::find(kept.begin(), end, i) != end) kept.push_back(next);
    ++next;
  }
  SetKept(c.l.graph.mutable_notes(call.id), kept);
  SetResults(c.values, c.node, body.single, ElementsOf(c.l, call, 0, pushed.values.size()));
  Tangents results;
  size_t next = pushed.values.size();
  for (const Op tangent : pushed.tangents) {
    results.push_back(IsZero(tangent) ? Op{} : c.l.b.GetTupleElement(call, static_cast<int64_t>(next++)));
  }
  return results;
}

// Differentiates the callee as a separate subgraph. Its values are recomputed from the arguments, except its
// results; if keeping results costs memory, only those that a checkpoint's policy keeps.
void CallVjp(const VjpArgs& c) {
  if (const auto rule = CustomRuleOf(c.part.computation, c.node)) return CustomRuleVjp(c, *rule);
  const CalleeBody body = BodyOf(c.instruction().called()[0]);
  std::vector<Leaf> leaves;
  for (const NodeId operand : c.Operands()) {
    for (const Leaf& leaf : LeavesOf(c.part.computation, operand)) leaves.push_back(leaf);
  }
  std::vector<Op> arguments;
  std::vector<bool> wanted;
  for (const Leaf& leaf : leaves) {
    wanted.push_back(c.is_active(leaf.node) && IsDifferentiable(ShapeOf(c.part.computation, leaf).type));
    arguments.push_back(ValueOf(c.values, leaf));
  }
  const bool checkpoint = IsCheckpoint(c.instruction());
  const std::vector<size_t> kept = KeptOf(c.part.computation, c.node);
  if (checkpoint && !arguments.empty()) {
    const Op barrier = c.l.b.Add(hlo::kOptBarrier, {c.l.b.Tuple(arguments)});
    arguments = ElementsOf(c.l, barrier, 0, arguments.size());
  }
  RecomputedPrimals copies(c.l, body.computation, arguments);
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    if (body.computation[body.outputs[i]].opcode() == hlo::kParameter) continue;
    if (checkpoint && !c.values.IsFree() && std::find(kept.begin(), kept.end(), i) == kept.end()) continue;
    copies.SetLazily(body.outputs[i], [&c, i, single = body.single] {
      return single ? c.values.Of(c.node) : c.values.Element(c.node, i);
    });
  }
  std::vector<Op> given(c.cotangents.begin(), c.cotangents.end());
  given.resize(body.outputs.size());
  const std::vector<Op> results =
      AppendVjp(c.l, SubgraphOf(body, wanted, c.part, c.node), copies, body.outputs, given);
  for (size_t i = 0; i < leaves.size(); ++i) c.add(leaves[i].node, leaves[i].element, results[i]);
}

}  // namespace hlod::lazy
