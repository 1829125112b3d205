// Reverse mode. Each instruction is linearised on its own, in a scratch graph, by its tangent rule; the
// linear part is transposed into the target, and what it needs of values is copied there.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "client/tensor/function.h"
#include "client/transform/differentiate.h"
#include "client/transform/rules.h"
#include "common/base/strings.h"

namespace hlod::lazy {
namespace {

using Elements = absl::InlinedVector<Op, 1>;  // One for each array of a node.

class Puller {
 public:
  Puller(Lowering& l, const Part& part, const Resolve& resolve)
      : l_(l), part_(part), resolve_(resolve), scratch_(l.graph.place, Graph::Kind::kFunction) {
    for (size_t i = 0; i < part.inputs.size(); ++i) inputs_.try_emplace(part.inputs[i], i);
    FindActive();
  }

  void Add(NodeId node, size_t element, Op cotangent) {
    if (IsZero(cotangent) || !IsActive(node)) return;
    Elements& elements = cotangents_[node];
    if (elements.size() <= element) elements.resize(element + 1);
    elements[element] = SumOf(l_, elements[element], cotangent);
  }

  void Pull() {
    for (NodeId node = part_.limit; node-- > part_.first;) {
      if (inputs_.contains(node)) continue;
      const auto found = cotangents_.find(node);
      if (found == cotangents_.end()) continue;
      const Elements cotangents = std::move(found->second);
      cotangents_.erase(found);
      PullNode(node, cotangents);
    }
  }

  Op Of(NodeId node) const {
    const auto found = cotangents_.find(node);
    return found == cotangents_.end() ? Op{} : found->second[0];
  }

 private:
  // Whether a node depends on a wanted input.
  bool IsActive(NodeId node) const {
    if (const auto input = inputs_.find(node); input != inputs_.end()) return part_.wanted[input->second];
    return node >= part_.first && node < part_.limit && active_[node - part_.first];
  }

  void FindActive() {
    active_.resize(part_.limit - part_.first, false);
    for (NodeId node = part_.first; node < part_.limit; ++node) {
      if (inputs_.contains(node)) continue;
      const hlo::Instruction instruction = part_.computation[node];
      bool active = false;
      for (const NodeId operand : instruction.operands()) active = active || IsActive(operand);
      if (active && instruction.shape().IsArray()) active = IsDifferentiable(instruction.shape().type);
      active_[node - part_.first] = active && !IsStopped(part_.computation, node);
    }
  }

  void PullNode(NodeId node, const Elements& cotangents) {
    const hlo::Instruction instruction = part_.computation[node];
    const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
    switch (instruction.opcode()) {
      case hlo::kTuple:
        for (size_t i = 0; i < cotangents.size(); ++i) Add(operands[i], 0, cotangents[i]);
        return;
      case hlo::kGetTupleElement:
        Add(operands[0], static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index),
            cotangents[0]);
        return;
      case hlo::kOptBarrier:
        for (size_t i = 0; i < cotangents.size(); ++i) Add(operands[0], i, cotangents[i]);
        return;
      case hlo::kCall: PullCall(node, operands, cotangents); return;
      default: PullRule(node, operands, cotangents);
    }
  }

  // The callee is differentiated as a part of its own. Its values are computed again from its arguments,
  // except those that it returns. A composite call is a checkpoint: the arguments go through a barrier, so
  // that the second computation is not merged with the first.
  void PullCall(NodeId node, const std::vector<NodeId>& operands, const Elements& cotangents) {
    const hlo::Instruction instruction = part_.computation[node];
    const bool checkpoint = instruction.attributes<hlo::CallAttributes>().is_composite;
    const hlo::Computation& callee = Tracer::Get().callees().computation(instruction.called()[0]);
    Part inner{callee, 0, callee.size(), {}, {}};
    std::vector<Op> arguments;
    for (size_t i = 0; i < operands.size(); ++i) {
      inner.inputs.push_back(callee.parameters()[i]);
      inner.wanted.push_back(IsActive(operands[i]));
      arguments.push_back(resolve_(operands[i]));
    }
    const Op call = resolve_(node);
    const bool tuple = callee.root().opcode() == hlo::kTuple;
    std::vector<NodeId> outputs = {callee.root_id()};
    if (tuple) outputs.assign(callee.root().operands().begin(), callee.root().operands().end());
    if (checkpoint && !arguments.empty()) {
      const Op barrier = l_.b.Add(hlo::kOptBarrier, {l_.b.Tuple(arguments)});
      for (size_t i = 0; i < arguments.size(); ++i) {
        arguments[i] = l_.b.GetTupleElement(barrier, static_cast<int64_t>(i));
      }
    }
    OnDemand copies(l_, callee, arguments);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (callee[outputs[i]].opcode() == hlo::kParameter) continue;
      copies.Set(outputs[i], tuple ? l_.b.GetTupleElement(call, static_cast<int64_t>(i)) : call);
    }
    std::vector<Op> given(cotangents.begin(), cotangents.end());
    given.resize(outputs.size());
    const std::vector<Op> results = PullBack(
        l_, inner, [&](NodeId id) { return copies(id); }, outputs, given);
    for (size_t i = 0; i < operands.size(); ++i) Add(operands[i], 0, results[i]);
  }

  // The scratch graph: parameters for the operands, the result, and the tangents of active operands.
  void PullRule(NodeId node, const std::vector<NodeId>& operands, const Elements& cotangents) {
    const hlo::Instruction instruction = part_.computation[node];
    const hlo::Opcode opcode = instruction.opcode();
    const TangentRule rule = TheRules().tangent[static_cast<size_t>(opcode)];
    if (rule == nullptr) RefuseRule(part_, node, "derivative");
    const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
    Lowering s{scratch_};
    std::vector<Op> x, t(operands.size());
    for (const NodeId operand : operands) {
      x.push_back(scratch_.op(scratch_.ArgumentParameter(part_.computation[operand].shape())));
    }
    const Op y = scratch_.op(scratch_.ArgumentParameter(instruction.shape()));
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!IsActive(operands[i])) continue;
      t[i] = scratch_.op(scratch_.ArgumentParameter(part_.computation[operands[i]].shape()));
    }
    const Tangents tangents =
        rule({s, opcode, instruction.shape(), instruction.attributes(), called, x, y, t});
    if (!s.b.status().ok()) throw Refusal{s.b.TakeStatus()};
    Transpose(node, operands, t, tangents, cotangents);
    scratch_.Clear();
  }

  void Transpose(NodeId node, const std::vector<NodeId>& operands, const std::vector<Op>& t,
                 const Tangents& tangents, const Elements& cotangents) {
    const hlo::Computation& scratch = scratch_.computation();
    std::vector<bool> linear(scratch.size(), false);
    std::vector<Op> ct(scratch.size());
    for (const Op tangent : t) {
      if (!IsZero(tangent)) linear[tangent.id] = true;
    }
    for (NodeId id = 0; id < scratch.size(); ++id) {
      for (const NodeId operand : scratch[id].operands()) {
        if (linear[operand]) linear[id] = true;
      }
    }
    for (size_t i = 0; i < tangents.size() && i < cotangents.size(); ++i) {
      if (IsZero(tangents[i]) || IsZero(cotangents[i])) continue;
      ct[tangents[i].id] = SumOf(l_, ct[tangents[i].id], cotangents[i]);
    }
    // Values are asked for only where a transpose needs them.
    std::vector<Op> values(scratch.size());
    const std::function<Op(NodeId)> value = [&](NodeId id) {
      if (!IsZero(values[id])) return values[id];
      const hlo::Instruction instruction = scratch[id];
      if (instruction.opcode() == hlo::kParameter) {
        const auto number = static_cast<size_t>(instruction.parameter_number());
        return values[id] = resolve_(number < operands.size() ? operands[number] : node);
      }
      std::vector<NodeId> of;
      for (const NodeId operand : instruction.operands()) of.push_back(value(operand).id);
      return values[id] = l_.graph.op(l_.graph.AppendCopy(scratch, id, of));
    };
    for (NodeId id = scratch.size(); id-- > 0;) {
      if (IsZero(ct[id]) || !linear[id] || scratch[id].opcode() == hlo::kParameter) continue;
      const hlo::Instruction instruction = scratch[id];
      const TransposeRule rule = TheRules().transpose[static_cast<size_t>(instruction.opcode())];
      if (rule == nullptr) Refuse("%s has no transpose rule", hlo::Name(instruction.opcode()));
      std::vector<Op> x;
      std::vector<const Shape*> shapes;
      for (const NodeId operand : instruction.operands()) {
        x.push_back(linear[operand] ? Op{} : value(operand));
        shapes.push_back(&scratch[operand].shape());
      }
      const Cotangents results = rule({l_, instruction.opcode(), instruction.shape(),
                                       instruction.attributes(), instruction.called(), x, shapes, ct[id]});
      for (size_t i = 0; i < results.size(); ++i) {
        const NodeId operand = instruction.operands()[i];
        if (linear[operand]) ct[operand] = SumOf(l_, ct[operand], results[i]);
      }
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!IsZero(t[i])) Add(operands[i], 0, ct[t[i].id]);
    }
  }

  Lowering& l_;
  const Part& part_;
  const Resolve& resolve_;
  Graph scratch_;
  absl::flat_hash_map<NodeId, size_t> inputs_;
  std::vector<bool> active_;
  absl::flat_hash_map<NodeId, Elements> cotangents_;
};

}  // namespace

std::vector<Op> PullBack(Lowering& l, const Part& part, const Resolve& resolve,
                         absl::Span<const NodeId> outputs, absl::Span<const Op> cotangents) {
  Puller puller(l, part, resolve);
  for (size_t i = 0; i < outputs.size(); ++i) puller.Add(outputs[i], 0, cotangents[i]);
  puller.Pull();
  std::vector<Op> results;
  absl::flat_hash_map<NodeId, bool> given;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const bool first = given.try_emplace(part.inputs[i], true).second;
    results.push_back(first && part.wanted[i] ? puller.Of(part.inputs[i]) : Op{});
  }
  return results;
}

}  // namespace hlod::lazy
