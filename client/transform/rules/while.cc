// Derivatives of loops with a condition. Forward mode is one loop of values and tangents. Reverse mode exists
// for loops that count from a constant to a constant, and for loops of loaded programs (unbounded.cc).
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/functions/counted_loop.h"
#include "client/transform/rules/unbounded.h"

namespace hlod::lazy {

namespace {

// Marks the elements of the state whose tangent varies: those given, and those that the body computes from
// them in any number of iterations.
void SpreadVarying(const CalleeBody& body, std::vector<bool>& varying) {
  const Subgraph nowhere{body.computation};
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<bool> active = ActiveNodes(SubgraphOf(body, varying, nowhere, 0));
    for (size_t i = 0; i < varying.size(); ++i) {
      if (!varying[i] && active[body.outputs[i]]) varying[i] = changed = true;
    }
  }
}

// The parameters of the condition or the body of the loop of values and tangents.
struct StateAndTangents {
  // Appends parameters for the state, then for the tangents of its elements that vary.
  StateAndTangents(Trace& graph, const CalleeBody& body, const std::vector<bool>& varying)
      : tangents(varying.size()) {
    const auto add = [&](size_t i) {
      all.push_back(graph.op(graph.ArgumentParameter(body.ParameterShape(i))));
      return all.back();
    };
    for (size_t i = 0; i < varying.size(); ++i) state.push_back(add(i));
    for (size_t i = 0; i < varying.size(); ++i) {
      if (varying[i]) tangents[i] = add(i);
    }
  }
  std::vector<Op> all, state;
  std::vector<Op> tangents;  // One per element of the state; zero for elements that do not vary.
};

hlo::ComputationId WhileCondition(const JvpArgs& c, const CalleeBody& body, const CalleeBody& condition,
                                  const std::vector<bool>& varying) {
  Trace test(c.l.graph.place, Trace::Kind::kFunction);
  Lowering lowering{test};
  const StateAndTangents parameters(test, body, varying);
  RecomputedPrimals copies(lowering, condition.computation, parameters.state);
  return PlainCalleeOf("while_condition", test, parameters.all, copies.Of(condition.outputs[0]), true);
}

hlo::ComputationId WhileBody(const JvpArgs& c, const CalleeBody& body, const std::vector<bool>& varying) {
  Trace step(c.l.graph.place, Trace::Kind::kFunction);
  Lowering inner{step};
  const StateAndTangents parameters(step, body, varying);
  const JvpResult pushed = BodyJvp(inner, body, parameters.state, parameters.tangents, c.part, c.node);
  std::vector<Op> results = pushed.values;
  for (size_t i = 0; i < varying.size(); ++i) {
    if (!varying[i]) continue;
    const Op tangent = pushed.tangents[i];
    results.push_back(IsZero(tangent) ? Zeros(inner, body.ParameterShape(i)) : tangent);
  }
  return CalleeOf("while_body", step, parameters.all, results, true);
}

}  // namespace

Tangents WhileJvp(const JvpArgs& c) {
  const std::vector<hlo::ComputationId> called(c.instruction().called().begin(),
                                               c.instruction().called().end());
  const CalleeBody body = BodyOf(called[0]), condition = BodyOf(called[1]);
  std::vector<Op> init, given;
  std::vector<bool> varying;
  for (const Leaf& leaf : LeavesOf(c.part.computation, c.Operands()[0])) {
    init.push_back(ValueOf(c.values, leaf));
    given.push_back(c.tangent(leaf.node, leaf.element));
    varying.push_back(!IsZero(given.back()));
  }
  const size_t count = init.size();
  SpreadVarying(body, varying);
  const hlo::ComputationId test = WhileCondition(c, body, condition, varying),
                           step = WhileBody(c, body, varying);
  for (size_t i = 0; i < count; ++i) {
    if (varying[i]) init.push_back(IsZero(given[i]) ? Zeros(c.l, c.l.shape(init[i])) : given[i]);
  }
  const Op end = c.l.b.While(c.l.b.Tuple(init), test, step);
  if (IsReversible(c.part.computation, c.node)) MarkReversible(c.l.graph.mutable_notes(end.id));
  const std::vector<Op> all = ElementsOf(c.l, end, 0, init.size());
  if (body.single) c.values.Set(c.node, all[0]);
  else c.values.SetElements(c.node, {all.begin(), all.begin() + static_cast<ptrdiff_t>(count)});
  Tangents made;
  size_t next = count;
  for (size_t i = 0; i < count; ++i) made.push_back(varying[i] ? all[next++] : Op{});
  return made;
}

namespace {

// Pulls back a counted loop as a scan of the same body. The scan is run in addition to the loop, for its
// residuals.
void CountedWhileVjp(const VjpArgs& c, hlo::ComputationId body, int64_t length) {
  const std::vector<Leaf> leaves = LeavesOf(c.part.computation, c.Operands()[0]);
  Trace scratch(c.l.graph.place, Trace::Kind::kFunction);
  Lowering inner{scratch};
  Subgraph part{scratch.computation(), 0, 0, {}, {}, nullptr, &c.part, c.node};
  std::vector<Op> values, operands;
  for (const Leaf& leaf : leaves) {
    const Shape shape = ShapeOf(c.part.computation, leaf);
    operands.push_back(scratch.op(scratch.ArgumentParameter(shape)));
    part.inputs.push_back(operands.back().id);
    part.wanted.push_back(c.is_active(leaf.node) && IsDifferentiable(shape.type));
    values.push_back(ValueOf(c.values, leaf));
  }
  const size_t count = operands.size();
  operands.insert(operands.begin(), inner.Full(hlo::kPred, {length}, false));
  hlo::ScanAttributes attributes;
  attributes.num_carries = static_cast<int64_t>(count);
  const Op scan = inner.b.Add(hlo::kScan, operands, attributes, {body});
  std::vector<NodeId> outputs;
  std::vector<Op> cotangents;
  for (const Op element : ElementsOf(inner, scan, 0, count)) {
    cotangents.push_back(c.Cotangent(outputs.size()));
    outputs.push_back(element.id);
  }
  part.limit = scratch.size();
  RecomputedPrimals copies(c.l, scratch.computation(), values);
  const std::vector<Op> results = AppendVjp(c.l, part, copies, outputs, cotangents);
  for (size_t i = 0; i < count; ++i) c.add(leaves[i].node, leaves[i].element, results[i]);
}

}  // namespace

void WhileVjp(const VjpArgs& c) {
  const absl::Span<const hlo::ComputationId> called = c.instruction().called();
  const WhileLoop loop{c.part.computation, c.Operands()[0], called[0], called[1]};
  if (const std::optional<int64_t> length = ScanLengthOf(loop); length.has_value()) {
    if (const auto body = ScanBodyOf(loop); body.has_value()) return CountedWhileVjp(c, *body, *length);
  }
  if (IsReversible(c.part.computation, c.node)) return UnboundedWhileVjp(c);
  Refuse(
      "a loop whose number of iterations is not known before it runs%s has no gradient: what its iterations "
      "need would have no bound; ForiLoop() and Scan() have one, and Jvp() goes forward through While()",
      OriginText(c.part, c.node));
}

}  // namespace hlod::lazy
