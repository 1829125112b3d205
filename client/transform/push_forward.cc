// Forward mode: node by node, each opcode by its tangent rule.
#include "absl/container/flat_hash_map.h"
#include "client/tensor/function.h"
#include "client/transform/differentiate.h"
#include "client/transform/rules.h"
#include "common/base/strings.h"

namespace hlod::lazy {
namespace {

class Pusher {
 public:
  Pusher(Lowering& l, const Part& part, const Resolve& resolve) : l_(l), part_(part), resolve_(resolve) {}

  void Set(NodeId node, Op tangent) { tangents_[node] = {tangent}; }
  bool Knows(NodeId node) const { return tangents_.contains(node); }
  Tangents Of(NodeId node) const {
    const auto found = tangents_.find(node);
    return found == tangents_.end() ? Tangents{Op{}} : found->second;
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
    Tangents made;
    switch (instruction.opcode()) {
      case hlo::kTuple:
        for (const NodeId operand : instruction.operands()) made.push_back(Of(operand)[0]);
        break;
      case hlo::kGetTupleElement: {
        const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
        const Tangents of_tuple = Of(instruction.operands()[0]);
        made = {index < of_tuple.size() ? of_tuple[index] : Op{}};
        break;
      }
      case hlo::kOptBarrier: made = Of(instruction.operands()[0]); break;
      case hlo::kCall: made = Call(node); break;
      default: made = Rule(node);
    }
    tangents_[node] = std::move(made);
  }

 private:
  Tangents Rule(NodeId node) {
    const hlo::Instruction instruction = part_.computation[node];
    const hlo::Opcode opcode = instruction.opcode();
    const TangentRule rule = TheRules().tangent[static_cast<size_t>(opcode)];
    if (rule == nullptr) RefuseRule(part_, node, "derivative");
    std::vector<Op> x, t;
    // The views of the arena end when something is appended: what is needed of them is copied first.
    const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
    const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
    const Shape& shape = instruction.shape();
    const hlo::Attributes& attributes = instruction.attributes();
    for (const NodeId operand : operands) {
      x.push_back(resolve_(operand));
      t.push_back(Of(operand)[0]);
    }
    return rule({l_, opcode, shape, attributes, called, x, resolve_(node), t});
  }

  // The callee's nodes are appended with their tangents.
  Tangents Call(NodeId node) {
    const hlo::Instruction instruction = part_.computation[node];
    const hlo::Computation& callee = Tracer::Get().callees().computation(instruction.called()[0]);
    const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
    std::vector<Op> arguments, tangents;
    Part part{callee, 0, callee.size(), {}, {}};
    for (size_t i = 0; i < operands.size(); ++i) {
      arguments.push_back(resolve_(operands[i]));
      tangents.push_back(Of(operands[i])[0]);
      part.inputs.push_back(callee.parameters()[i]);
      part.wanted.push_back(!IsZero(tangents.back()));
    }
    OnDemand copies(l_, callee, arguments);
    const bool tuple = callee.root().opcode() == hlo::kTuple;
    std::vector<NodeId> outputs = {callee.root_id()};
    if (tuple) outputs.assign(callee.root().operands().begin(), callee.root().operands().end());
    return PushForward(
        l_, part, [&](NodeId inner) { return copies(inner); }, tangents, outputs);
  }

  Lowering& l_;
  const Part& part_;
  const Resolve& resolve_;
  absl::flat_hash_map<NodeId, Tangents> tangents_;
};

}  // namespace

std::vector<Op> PushForward(Lowering& l, const Part& part, const Resolve& resolve,
                            absl::Span<const Op> tangents, absl::Span<const NodeId> outputs) {
  Pusher pusher(l, part, resolve);
  absl::flat_hash_map<NodeId, bool> is_input;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    if (!is_input.try_emplace(part.inputs[i], true).second) continue;
    if (part.wanted[i] && !IsZero(tangents[i])) pusher.Set(part.inputs[i], tangents[i]);
  }
  for (NodeId node = part.first; node < part.limit; ++node) {
    if (!is_input.contains(node)) pusher.Push(node);
  }
  std::vector<Op> results;
  for (const NodeId output : outputs) results.push_back(pusher.Of(output)[0]);
  return results;
}

}  // namespace hlod::lazy
