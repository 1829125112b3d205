// Forward mode: visits the nodes in order, and applies to each the tangent rule of its opcode.
#include "absl/container/flat_hash_map.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/function/function.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/functions/mask.h"
#include "client/transform/rules/own.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

class JvpBuilder {
 public:
  JvpBuilder(Lowering& l, const Subgraph& part, RecomputedPrimals& values)
      : l_(l), part_(part), values_(values) {}

  void Set(NodeId node, Op tangent) { tangents_[node] = {tangent}; }
  Op Of(NodeId node, size_t element = 0) const {
    const auto found = tangents_.find(node);
    return found == tangents_.end() || element >= found->second.size() ? Op{} : found->second[element];
  }

  void Push(NodeId node) {
    const hlo::Instruction instruction = part_.computation[node];
    bool any = false;
    for (const NodeId operand : instruction.operands()) {
      const auto found = tangents_.find(operand);
      if (found == tangents_.end()) continue;
      for (const Op tangent : found->second) any = any || !IsZero(tangent);
    }
    if (!any || IsStopped(part_.computation, node)) return;
    tangents_[node] = TangentsOf(node);
  }

 private:
  Tangents TangentsOf(NodeId node) {
    const hlo::Instruction instruction = part_.computation[node];
    const absl::Span<const NodeId> operands = instruction.operands();
    switch (instruction.opcode()) {
      case hlo::kTuple: {
        if (!OwnRule(part_.computation, node).empty()) return Rule(node);
        Tangents made;
        for (const NodeId operand : operands) made.push_back(Of(operand));
        return made;
      }
      case hlo::kGetTupleElement:
        return {
            Of(operands[0], static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index))};
      case hlo::kOptBarrier: return tangents_.at(operands[0]);
      default: break;
    }
    const ControlRules* const control = ControlRulesOf(instruction.opcode());
    if (control == nullptr) return Rule(node);
    const std::function<Op(NodeId, size_t)> tangent = [this](NodeId id, size_t element) {
      return Of(id, element);
    };
    return control->jvp({l_, part_, node, values_, tangent});
  }

  Tangents Rule(NodeId node) {
    const hlo::Instruction instruction = part_.computation[node];
    const hlo::Opcode opcode = instruction.opcode();
    const TangentRule rule = TangentRuleOf(part_.computation, node);
    if (rule == nullptr) RefuseRule(part_, node, "derivative");
    std::vector<Op> x, t;
    // Appending invalidates spans into the computation's arena, so these are copied first.
    const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
    const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
    const Shape& shape = instruction.shape();
    const hlo::Attributes& attributes = instruction.attributes();
    const size_t results = OwnResults(part_.computation, node);
    for (const NodeId operand : operands) {
      t.push_back(Of(operand));
      // The results are read from the tuple itself, because as primals they have the rule's derivative, too.
      const bool result = opcode == hlo::kTuple && x.size() < results;
      x.push_back(result ? values_.Element(node, x.size()) : values_.Of(operand));
    }
    const bool masking = opcode == hlo::kSelect && IsMasking(part_.computation, node);
    Tangents made = rule({l_, opcode, shape, attributes, called, x, values_.Of(node), t});
    if (masking && l_.b.status().ok()) MarkMasking(l_.graph.mutable_notes(made[0].id));
    return made;
  }

  Lowering& l_;
  const Subgraph& part_;
  RecomputedPrimals& values_;
  absl::flat_hash_map<NodeId, Tangents> tangents_;
};

// Returns which nodes have a tangent that an output's tangent is made of. What a rule reads as values has
// none: so a function whose derivatives end at some order is refused only where the next one is taken.
std::vector<bool> Needed(const Subgraph& part, absl::Span<const NodeId> outputs) {
  const hlo::Computation& computation = part.computation;
  std::vector<bool> needed(part.limit);
  for (const NodeId output : outputs) {
    if (output < part.limit) needed[output] = true;
  }
  for (NodeId node = part.limit; node-- > part.first;) {
    if (!needed[node] || IsStopped(computation, node)) continue;
    const size_t read = ReadAsValues(computation, node);
    for (const NodeId operand : computation[node].operands().subspan(read)) needed[operand] = true;
  }
  return needed;
}

}  // namespace

std::vector<Op> AppendJvp(Lowering& l, const Subgraph& part, RecomputedPrimals& values,
                          absl::Span<const Op> tangents, absl::Span<const NodeId> outputs) {
  JvpBuilder pusher(l, part, values);
  absl::flat_hash_map<NodeId, bool> is_input;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    if (!is_input.try_emplace(part.inputs[i], true).second) continue;
    if (part.wanted[i] && !IsZero(tangents[i])) pusher.Set(part.inputs[i], tangents[i]);
  }
  const std::vector<bool> needed = Needed(part, outputs);
  for (NodeId node = part.first; node < part.limit; ++node) {
    if (needed[node] && !is_input.contains(node)) pusher.Push(node);
  }
  std::vector<Op> results;
  for (const NodeId output : outputs) results.push_back(pusher.Of(output));
  return results;
}

JvpResult BodyJvp(Lowering& l, const CalleeBody& body, const std::vector<Op>& parameters,
                  const std::vector<Op>& tangents, const Subgraph& around, NodeId caller) {
  std::vector<bool> wanted;
  for (const Op tangent : tangents) wanted.push_back(!IsZero(tangent));
  RecomputedPrimals values(l, body.computation, parameters);
  JvpResult pushed;
  pushed.tangents =
      AppendJvp(l, SubgraphOf(body, std::move(wanted), around, caller), values, tangents, body.outputs);
  for (const NodeId output : body.outputs) pushed.values.push_back(values.Of(output));
  return pushed;
}

}  // namespace hlod::lazy
