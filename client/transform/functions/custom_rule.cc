// CustomVjp and CustomJvp record f as one call, whose notes name the callees of its rule.
#include "client/transform/functions/custom_rule.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/value/throw.h"
#include "client/transform/functions/prints_of.h"
#include "client/transform/functions/suspend.h"
#include "common/base/text/strings.h"
#include "hlod/transform/custom_rule.h"

namespace hlod::lazy {
namespace {

constexpr char kRule[] = "custom_rule";

// Returns a callee that runs `function` and takes `shapes`; parameter i of the function is parameter pick[i]
// of the callee.
hlo::ComputationId CalleeOn(const char* name, const Function& function, const std::vector<Shape>& shapes,
                            const std::vector<size_t>& pick) {
  Callee callee(name);
  const std::vector<NodeId> all = callee.Parameters(shapes, false);
  std::vector<NodeId> parameters;
  for (const size_t i : pick) parameters.push_back(all[i]);
  return callee.FinishTuple(callee.Append(function, parameters));
}

std::vector<size_t> Range(size_t begin, size_t count) {
  std::vector<size_t> range;
  for (size_t i = 0; i < count; ++i) range.push_back(begin + i);
  return range;
}
void AddRange(std::vector<size_t>& list, size_t begin, size_t count) {
  for (const size_t i : Range(begin, count)) list.push_back(i);
}

// The functions of a custom rule as computations on the operands of one call: the arguments, then what each
// function captured.
struct RuleParts {
  const std::vector<const Function*>&
      functions;  // The function, its forward, and its backward for CustomVjp.
  size_t arguments;
  std::vector<size_t> first;  // For each function, the index of the first operand that it captured.
  std::vector<Shape> shapes;  // The shapes of the operands.

  hlo::ComputationId Primal() const {
    std::vector<size_t> pick = Range(0, arguments);
    AddRange(pick, first[0], functions[0]->extra.size());
    return CalleeOn("custom", *functions[0], shapes, pick);
  }

  CustomRule Vjp() const {
    std::vector<size_t> of_forward = Range(0, arguments);
    AddRange(of_forward, first[1], functions[1]->extra.size());
    CustomRule rule;
    rule.is_vjp = true;
    rule.arguments = arguments;
    rule.forward = CalleeOn("custom_forward", *functions[1], shapes, of_forward);
    rule.residuals = functions[1]->outputs.size() - functions[0]->outputs.size();
    std::vector<Shape> given;
    for (size_t i = 0; i < functions[2]->arguments; ++i) {
      const hlo::Computation& backward = *functions[2]->computation;
      given.push_back(backward[backward.parameters()[i]].shape());
    }
    std::vector<size_t> of_backward = Range(0, given.size());
    AddRange(of_backward, given.size() + first[2] - arguments, functions[2]->extra.size());
    given.insert(given.end(), shapes.begin() + static_cast<ptrdiff_t>(arguments), shapes.end());
    rule.backward = CalleeOn("custom_backward", *functions[2], given, of_backward);
    return rule;
  }

  CustomRule Jvp() const {
    std::vector<size_t> of_forward = Range(0, arguments);
    AddRange(of_forward, shapes.size(), arguments);  // Appends the tangents.
    AddRange(of_forward, first[1], functions[1]->extra.size());
    std::vector<Shape> given = shapes;
    given.insert(given.end(), shapes.begin(), shapes.begin() + static_cast<ptrdiff_t>(arguments));
    CustomRule rule;
    rule.is_vjp = false;
    rule.arguments = arguments;
    rule.forward = CalleeOn("custom_jvp", *functions[1], given, of_forward);
    return rule;
  }
};

}  // namespace

std::optional<CustomRule> CustomRuleOf(const hlo::Computation& computation, NodeId node) {
  const hlo::Notes* const notes = computation.notes(node);
  if (notes == nullptr) return std::nullopt;
  const auto found = notes->frontend_attributes.find(kRule);
  if (found == notes->frontend_attributes.end()) return std::nullopt;
  std::vector<uint64_t> numbers;
  for (const absl::string_view word : absl::StrSplit(found->second, ',')) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.size() != 6) return std::nullopt;
  return CustomRule{numbers[0] != 0,
                    numbers[1],
                    numbers[2],
                    numbers[3] != 0,
                    static_cast<hlo::ComputationId>(numbers[4]),
                    static_cast<hlo::ComputationId>(numbers[5])};
}

void SetCustomRule(hlo::Notes& notes, const CustomRule& rule) {
  const uint64_t numbers[] = {rule.is_vjp ? 1u : 0u,  rule.arguments, rule.residuals,
                              rule.widened ? 1u : 0u, rule.forward,   rule.backward};
  notes.frontend_attributes[kRule] = absl::StrJoin(numbers, ",");
}

std::vector<Tensor> CallCustom(const CustomCallee& callee, const std::vector<Tensor>& arguments,
                               const Caller& caller) {
  const bool is_vjp = callee.kind == CustomCallee::Kind::kVjp;
  static constexpr Operation kVjp = {"CustomVjp", "custom_vjp", Promotion::kNone,
                                     "a function with a gradient of its own"};
  static constexpr Operation kJvp = {"CustomJvp", "custom_jvp", Promotion::kNone,
                                     "a function with a derivative of its own"};
  for (const auto& traced : {callee.f, callee.forward, callee.backward}) {
    if (traced != nullptr) RefusePrints(*traced, is_vjp ? kVjp.pytorch : kJvp.pytorch, caller);
  }
  const AutocastSuspension suspension;
  std::vector<const Function*> parts = {&callee.f->function(), &callee.forward->function()};
  if (is_vjp) parts.push_back(&callee.backward->function());
  std::vector<Tensor> tensors = arguments;
  for (const Function* part : parts) {
    for (const Tensor& tensor : part->Captured()) tensors.push_back(tensor);
  }
  return CallSeveral(is_vjp ? kVjp : kJvp, OperandsOf(tensors, caller), [&](Lowering& l, Operands o) {
    std::vector<Op> operands(o.begin(), o.begin() + static_cast<ptrdiff_t>(arguments.size()));
    Operands captured = o.subspan(arguments.size());
    RuleParts rule_parts{parts, arguments.size(), {}, {}};
    for (const Function* part : parts) {
      const size_t count = part->Captured().size();
      rule_parts.first.push_back(operands.size());
      for (const Op op : ExtraArguments(l, *part, captured.subspan(0, count))) operands.push_back(op);
      captured.remove_prefix(count);
    }
    for (const Op operand : operands) rule_parts.shapes.push_back(l.shape(operand));
    const hlo::ComputationId f = rule_parts.Primal();
    const Op call = l.b.Add(hlo::kCall, operands, hlo::CallAttributes{true}, {f});
    SetCustomRule(l.graph.mutable_notes(call.id), is_vjp ? rule_parts.Vjp() : rule_parts.Jvp());
    return ElementsOf(l, call, 0, parts[0]->outputs.size());
  });
}

void CheckRule(const char* what, const Flattened& given, const std::vector<std::string>& paths,
               const Flattened& wanted, const std::vector<std::string>& wanted_paths, const Caller& caller) {
  if (given.structure != wanted.structure) tree::CheckSame(given, paths, wanted, wanted_paths, caller);
  for (size_t i = 0; i < given.leaves.size(); ++i) {
    if (given.leaves[i].shape() == wanted.leaves[i].shape()) continue;
    Throw(ErrorKind::kArgument,
          absl::StrCat(paths[i], " of the rule is ", hlo::ToStringNoLayout(given.leaves[i].shape()), ", ",
                       wanted_paths[i], " is ", hlo::ToStringNoLayout(wanted.leaves[i].shape())),
          what, caller);
  }
}

Tangents CustomRuleJvp(const JvpArgs& c, const CustomRule& rule) {
  if (rule.is_vjp) {
    Refuse("a function of CustomVjp()%s has a rule for gradients only, none for Jvp()",
           OriginText(c.part, c.node));
  }
  std::vector<Op> values;
  for (const NodeId operand : c.Operands()) values.push_back(c.values.Of(operand));
  for (size_t i = 0; i < rule.arguments; ++i) {
    const Op tangent = c.tangent(c.Operands()[i], 0);
    values.push_back(IsZero(tangent) ? Zeros(c.l, c.l.shape(values[i])) : tangent);
  }
  const CalleeBody body = BodyOf(rule.forward);
  RecomputedPrimals copies(c.l, body.computation, values);
  std::vector<Op> results;
  for (const NodeId output : body.outputs) results.push_back(copies.Of(output));
  const auto half = static_cast<ptrdiff_t>(results.size() / 2);
  c.values.SetElements(c.node, {results.begin(), results.begin() + half});
  Tangents tangents(results.begin() + half, results.end());
  for (Op& tangent : tangents) {
    if (!IsDifferentiable(c.l.type(tangent))) tangent = Op{};
  }
  return tangents;
}

namespace {

// Returns the residuals. If the call does not return them yet, it is replaced by a call of the rule's forward
// function or, if that is not possible, such a call is added.
std::vector<Op> ResidualsOf(const VjpArgs& c, const CustomRule& rule, size_t results) {
  std::vector<Op> given;
  if (rule.widened) {
    for (size_t i = 0; i < rule.residuals; ++i) given.push_back(c.values.Element(c.node, results + i));
    return given;
  }
  const CalleeBody forward = BodyOf(rule.forward);
  TupleExtension wider{{rule.forward}, c.instruction().shape(), results, rule.residuals};
  for (size_t i = 0; i < rule.residuals; ++i) {
    wider.shape.tuple.push_back(forward.OutputShape(results + i));
  }
  CustomRule wide = rule;
  wide.widened = true;
  wider.mark = [wide](hlo::Notes& notes) { SetCustomRule(notes, wide); };
  given = c.values.ExtendTuple(c.node, wider);
  if (given.empty() && rule.residuals > 0) {
    std::vector<Op> values;
    for (const NodeId operand : c.Operands()) values.push_back(c.values.Of(operand));
    given = ElementsOf(c.l, c.l.b.Call(values, rule.forward), wider.at, wider.at + wider.added);
  }
  return given;
}

// In a gradient of a gradient, the residuals have cotangents, which this pulls back through the forward
// function.
void VjpOfResiduals(const VjpArgs& c, const CustomRule& rule, size_t results) {
  const std::vector<NodeId> operands = c.Operands();
  const CalleeBody forward = BodyOf(rule.forward);
  std::vector<Op> values, cotangents(forward.outputs.size());
  std::vector<bool> wanted;
  bool any = false;
  for (size_t i = results; i < cotangents.size(); ++i) {
    cotangents[i] = c.Cotangent(i);
    any = any || !IsZero(cotangents[i]);
  }
  if (!any) return;
  for (const NodeId operand : operands) {
    values.push_back(c.values.Of(operand));
    wanted.push_back(c.is_active(operand));
  }
  RecomputedPrimals copies(c.l, forward.computation, values);
  const std::vector<Op> by =
      AppendVjp(c.l, SubgraphOf(forward, wanted, c.part, c.node), copies, forward.outputs, cotangents);
  for (size_t i = 0; i < operands.size(); ++i) c.add(operands[i], 0, by[i]);
}

void VjpOfCustomVjp(const VjpArgs& c, const CustomRule& rule) {
  const std::vector<NodeId> operands = c.Operands();
  std::vector<Shape> shapes = c.instruction().shape().tuple;
  if (rule.widened) shapes.resize(shapes.size() - rule.residuals);
  if (rule.widened) VjpOfResiduals(c, rule, shapes.size());
  bool any = false;
  for (size_t i = 0; i < shapes.size(); ++i) any = any || !IsZero(c.Cotangent(i));
  if (!any) return;
  std::vector<Op> given = ResidualsOf(c, rule, shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Op cotangent = c.Cotangent(i);
    given.push_back(IsZero(cotangent) ? Zeros(c.l, shapes[i]) : cotangent);
  }
  for (size_t i = rule.arguments; i < operands.size(); ++i) given.push_back(c.values.Of(operands[i]));
  const CalleeBody backward = BodyOf(rule.backward);
  RecomputedPrimals copies(c.l, backward.computation, given);
  for (size_t i = 0; i < rule.arguments; ++i) c.add(operands[i], 0, copies.Of(backward.outputs[i]));
}

// Transposes the rule, which is linear in the tangents.
void VjpOfCustomJvp(const VjpArgs& c, const CustomRule& rule) {
  const std::vector<NodeId> operands = c.Operands();
  const CalleeBody body = BodyOf(rule.forward);
  std::vector<Op> values;
  std::vector<bool> wanted(body.parameters.size(), false);
  for (const NodeId operand : operands) values.push_back(c.values.Of(operand));
  for (size_t i = 0; i < rule.arguments; ++i) {
    values.push_back(values[i]);
    wanted[operands.size() + i] = c.is_active(operands[i]);
  }
  RecomputedPrimals copies(c.l, body.computation, values);
  for (size_t i = 0; i < rule.arguments; ++i) {
    copies.SetLazily(body.parameters[operands.size() + i], [&c]() -> Op {
      Refuse("the rule of CustomJvp()%s is not linear in the tangents", OriginText(c.part, c.node));
    });
  }
  std::vector<Op> cotangents(body.outputs.size());
  for (size_t i = 0; i < cotangents.size() / 2; ++i) cotangents[cotangents.size() / 2 + i] = c.Cotangent(i);
  const std::vector<Op> results =
      AppendVjp(c.l, SubgraphOf(body, wanted, c.part, c.node), copies, body.outputs, cotangents);
  for (size_t i = 0; i < rule.arguments; ++i) c.add(operands[i], 0, results[operands.size() + i]);
}

}  // namespace

void CustomRuleVjp(const VjpArgs& c, const CustomRule& rule) {
  if (rule.is_vjp) VjpOfCustomVjp(c, rule);
  else VjpOfCustomJvp(c, rule);
}

}  // namespace hlod::lazy
