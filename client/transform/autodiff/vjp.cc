// Reverse mode: cotangents of a computation's inputs from cotangents of its outputs.
//
// Opcodes do not have rules for reverse mode. Instead, an instruction is linearised by its tangent rule, the
// rule of forward mode, and the few resulting linear instructions are transposed. That the two steps are the
// reverse-mode derivative is linear algebra: a tangent rule computes J t, for the Jacobian J at the operands;
// transposed, the same lines compute J^T ct.
//
// VjpBuilder walks the nodes of the subgraph from the last to the first and keeps, per node, the sum of the
// cotangents that arrived from its users. When the walk comes to a node, all of its users have been visited,
// so the sum is complete. A node without cotangents is skipped. Otherwise the node is pulled back:
//
//   1. Linearise (RuleVjp). The tangent rule runs in an empty scratch trace whose parameters are the
//      instruction's operands x, its result y and one tangent t per operand that depends on a wanted input.
//   2. Sort (Transpose). A scratch node is linear when it depends on a tangent; the other nodes are
//      functions of x and y, the primals.
//   3. Transpose. The linear scratch nodes are visited from the last to the first. The transpose rule of each
//      appends to the *target* trace the cotangents of its linear operands. A primal that it multiplies by is
//      copied from the scratch trace to the target on demand, and the values of x and y come from
//      PrimalValues (residual_primals.cc tells of the ways). A primal that no transpose needs is not copied:
//      for t0 * x1 with only operand 0 active, neither x0 nor y is requested.
//   4. The cotangents that reached the tangent parameters are added to the operands.
//
// Example: y = sin(x) * x, with the nodes n0 = x (the input), n1 = sine(n0), n2 = multiply(n1, n0), and ct
// the cotangent of n2.
//
//   node n2, in the scratch trace:           into the target, from the last line to the first:
//     x0, x1, y, t0, t1 = parameters
//     a = t0 * x1           linear             ct(t0) = ct * n0         n1 receives ct * n0
//     b = t1 * x0           linear             ct(t1) = ct * n1         n0 receives ct * n1
//     c = a + b             linear             ct(a) = ct(b) = ct
//
//   node n1, to which ct1 = ct * n0 came:
//     x0, y, t0 = parameters
//     s = cosine(x0)        a primal           copied: cosine(n0)
//     a = t0 * s            linear             ct(t0) = ct1 * cosine(n0)    n0 receives that
//
//   n0 is an input: the walk leaves it alone. Its sum is the result, ct * sin(x) + ct * x * cos(x).
//
// Tuples and barriers only pass cotangents on. Loops, branches and calls have a rule that transposes their
// bodies by this same algorithm (control_rules.h). Results with their own rule (own_derivative.h) are a tuple
// node, which that rule linearises: the instructions that computed them get no cotangents from it.
//
// Masks. A select sends a zero cotangent into the branch that it did not choose, and zero times an infinite
// slope is NaN. So, beside its cotangent, a node carries the mask of the elements where it can be nonzero
// (mask.h; selects that are marked begin one). Where step 3 multiplied or divided by a primal, the result is
// made zero again outside of the mask: the gradient of select(x > 0, log(x), 0) at x = 0 is 0, not 0 / 0.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "client/tensor/autograd/own_derivative.h"
#include "client/tensor/function/function.h"
#include "client/transform/autodiff/control_rules.h"
#include "client/transform/autodiff/differentiate.h"
#include "client/transform/autodiff/rules.h"
#include "client/transform/functions/mask.h"
#include "common/base/text/strings.h"

namespace hlod::lazy {
namespace {

using Elements = absl::InlinedVector<Op, 1>;  // One value per array of a node.

// The cotangents that a node has received so far.
struct Arrived {
  Elements cotangents;
  MaskRef mask;
};

// Returns true when the instruction is a scalar constant or a broadcast of one.
bool IsNumber(const hlo::Instruction& instruction) {
  if (instruction.opcode() == hlo::kBroadcast) return IsNumber(instruction.operand(0));
  return instruction.opcode() == hlo::kConstant && instruction.shape().dims.empty();
}

// Transposes the tangents' instructions in a scratch computation, whose parameters stand for a node's
// operands, its result and the tangents of the operands.
class ScratchTranspose {
 public:
  ScratchTranspose(Lowering& l, const hlo::Computation& scratch, PrimalValues& values, NodeId node,
                   const std::vector<NodeId>& operands)
      : l_(l),
        scratch_(scratch),
        primals_(values),
        node_(node),
        operands_(operands),
        linear_(scratch.size(), false),
        ct_(scratch.size()),
        values_(scratch.size()) {}

  // Marks the instructions that depend on the tangents `t`.
  void FindLinear(const std::vector<Op>& t) {
    for (const Op tangent : t) {
      if (!IsZero(tangent)) linear_[tangent.id] = true;
    }
    for (NodeId id = 0; id < scratch_.size(); ++id) {
      for (const NodeId operand : scratch_[id].operands()) {
        if (linear_[operand]) linear_[id] = true;
      }
    }
  }
  void Add(NodeId id, Op cotangent) { ct_[id] = SumOf(l_, ct_[id], cotangent); }
  Op Of(NodeId id) const { return ct_[id]; }
  // Returns true after a product or quotient with a primal, which may be infinite.
  bool multiplies() const { return multiplies_; }

  void Run() {
    for (NodeId id = scratch_.size(); id-- > 0;) {
      if (IsZero(ct_[id]) || !linear_[id] || scratch_[id].opcode() == hlo::kParameter) continue;
      Transpose(scratch_[id], ct_[id]);
    }
  }

 private:
  void Transpose(const hlo::Instruction& instruction, Op ct) {
    const TransposeRule rule = TheRules().transpose[static_cast<size_t>(instruction.opcode())];
    if (rule == nullptr) Refuse("%s has no transpose rule", hlo::Name(instruction.opcode()));
    std::vector<Op> x;
    std::vector<const Shape*> shapes;
    for (const NodeId operand : instruction.operands()) {
      x.push_back(linear_[operand] ? Op{} : Value(operand));
      multiplies_ = multiplies_ || (instruction.opcode() != hlo::kSelect && !linear_[operand] &&
                                    !IsNumber(scratch_[operand]));
      shapes.push_back(&scratch_[operand].shape());
    }
    const Cotangents results = rule({l_, instruction.opcode(), instruction.shape(), instruction.attributes(),
                                     instruction.called(), x, shapes, ct});
    for (size_t i = 0; i < results.size(); ++i) {
      const NodeId operand = instruction.operands()[i];
      if (linear_[operand]) Add(operand, results[i]);
    }
  }

  // Returns the target's copy of a primal, which is made when a transpose rule first needs it.
  Op Value(NodeId id) {
    if (!IsZero(values_[id])) return values_[id];
    const hlo::Instruction instruction = scratch_[id];
    if (instruction.opcode() == hlo::kParameter) return values_[id] = primals_.Of(Source(instruction));
    if (instruction.opcode() == hlo::kGetTupleElement && instruction.operand(0).opcode() == hlo::kParameter) {
      const auto index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
      return values_[id] = primals_.Element(Source(instruction.operand(0)), index);
    }
    std::vector<NodeId> of;
    for (const NodeId operand : instruction.operands()) of.push_back(Value(operand).id);
    return values_[id] = l_.graph.op(l_.graph.AppendCopy(scratch_, id, of));
  }
  // Returns the node that a parameter stands for.
  NodeId Source(const hlo::Instruction& parameter) const {
    const auto number = static_cast<size_t>(parameter.parameter_number());
    return number < operands_.size() ? operands_[number] : node_;
  }

  Lowering& l_;
  const hlo::Computation& scratch_;
  PrimalValues& primals_;
  const NodeId node_;
  const std::vector<NodeId>& operands_;
  std::vector<bool> linear_;
  std::vector<Op> ct_, values_;
  bool multiplies_ = false;
};

class VjpBuilder {
 public:
  VjpBuilder(Lowering& l, const Subgraph& part, PrimalValues& values)
      : l_(l),
        part_(part),
        values_(values),
        scratch_(l.graph.place, Trace::Kind::kFunction),
        active_(ActiveNodes(part)) {
    for (size_t i = 0; i < part.inputs.size(); ++i) inputs_.try_emplace(part.inputs[i], i);
  }

  void Add(NodeId node, size_t element, Op cotangent, const MaskRef& mask = nullptr) {
    if (IsZero(cotangent) || !IsActive(node)) return;
    Arrived& arrived = arrived_[node];
    Elements& elements = arrived.cotangents;
    arrived.mask = elements.empty() ? mask : Either(l_, arrived.mask, mask);
    if (elements.size() <= element) elements.resize(element + 1);
    elements[element] = SumOf(l_, elements[element], cotangent);
  }

  void Pull() {
    for (NodeId node = part_.limit; node-- > part_.first;) {
      if (inputs_.contains(node)) continue;
      const auto found = arrived_.find(node);
      if (found == arrived_.end()) continue;
      const Arrived arrived = std::move(found->second);
      arrived_.erase(found);
      NodeVjp(node, arrived);
    }
  }

  Op Of(NodeId node) const {
    const auto found = arrived_.find(node);
    return found == arrived_.end() ? Op{} : found->second.cotangents[0];
  }

 private:
  // Returns true when a cotangent of the node is of use: the node depends on a wanted input.
  bool IsActive(NodeId node) const {
    if (const auto input = inputs_.find(node); input != inputs_.end()) return part_.wanted[input->second];
    return node >= part_.first && node < part_.limit && active_[node - part_.first];
  }

  void NodeVjp(NodeId node, const Arrived& arrived) {
    const Elements& cotangents = arrived.cotangents;
    const hlo::Instruction instruction = part_.computation[node];
    const std::vector<NodeId> operands(instruction.operands().begin(), instruction.operands().end());
    switch (instruction.opcode()) {
      case hlo::kTuple:
        if (!OwnRule(part_.computation, node).empty()) return RuleVjp(node, operands, arrived);
        for (size_t i = 0; i < cotangents.size(); ++i) Add(operands[i], 0, cotangents[i]);
        return;
      case hlo::kGetTupleElement:
        Add(operands[0], static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index),
            cotangents[0], arrived.mask);
        return;
      case hlo::kOptBarrier:
        for (size_t i = 0; i < cotangents.size(); ++i) Add(operands[0], i, cotangents[i]);
        return;
      default: break;
    }
    const ControlRules* const control = ControlRulesOf(instruction.opcode());
    if (control == nullptr) {
      RuleVjp(node, operands, arrived);
      return;
    }
    const std::function<bool(NodeId)> is_active = [this](NodeId id) { return IsActive(id); };
    // A while whose body is elementwise does not mix elements, so the mask holds for its operands, too.
    const bool apart = arrived.mask != nullptr && instruction.opcode() == hlo::kWhile &&
                       IsElementwise(TraceTables::Get().callees().computation(instruction.called()[0]));
    const std::function<void(NodeId, size_t, Op)> add = [&](NodeId id, size_t element, Op cotangent) {
      const bool masked = apart && !IsZero(cotangent) && l_.dims(cotangent) == arrived.mask->dims();
      Add(id, element, masked ? Masked(l_, arrived.mask, cotangent) : cotangent,
          masked ? arrived.mask : nullptr);
    };
    control->vjp({l_, part_, node, values_, cotangents, is_active, add});
  }

  // Pulls a node back by its tangent rule: steps 1 to 4 above.
  void RuleVjp(NodeId node, const std::vector<NodeId>& operands, const Arrived& arrived) {
    const hlo::Instruction instruction = part_.computation[node];
    const hlo::Opcode opcode = instruction.opcode();
    const TangentRule rule = TangentRuleOf(part_.computation, node);
    if (rule == nullptr) RefuseRule(part_, node, "derivative");
    const std::vector<hlo::ComputationId> called(instruction.called().begin(), instruction.called().end());
    Lowering s{scratch_};
    std::vector<Op> x, t(operands.size());
    for (const NodeId operand : operands) {
      x.push_back(scratch_.op(scratch_.ArgumentParameter(part_.computation[operand].shape())));
    }
    const Op y = scratch_.op(scratch_.ArgumentParameter(instruction.shape()));
    // The results are read from the tuple itself, because as primals they have the rule's derivative, too.
    for (size_t i = 0; opcode == hlo::kTuple && i < OwnResults(part_.computation, node); ++i) {
      x[i] = s.b.GetTupleElement(y, static_cast<int64_t>(i));
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!IsActive(operands[i])) continue;
      t[i] = scratch_.op(scratch_.ArgumentParameter(part_.computation[operands[i]].shape()));
    }
    const Tangents tangents =
        rule({s, opcode, instruction.shape(), instruction.attributes(), called, x, y, t});
    if (!s.b.status().ok()) throw Refusal{s.b.TakeStatus()};
    Transpose(node, operands, t, tangents, arrived);
    scratch_.Clear();
  }

  // Returns the mask for operand i of a node whose result has `mask`.
  MaskRef MaskOf(NodeId node, const std::vector<NodeId>& operands, size_t i, const MaskRef& mask) {
    const hlo::Instruction instruction = part_.computation[node];
    if (instruction.opcode() != hlo::kSelect || i == 0 || !IsMasking(part_.computation, node)) {
      return OfOperand(l_, mask, instruction, part_.computation[operands[i]].shape());
    }
    return Chosen(
        l_, mask, instruction.shape().dims, [this, pred = operands[0]] { return values_.Of(pred); }, i == 1);
  }

  // Steps 3 and 4: transposes what RuleVjp wrote into scratch_, and adds the cotangents of the operands.
  void Transpose(NodeId node, const std::vector<NodeId>& operands, const std::vector<Op>& t,
                 const Tangents& tangents, const Arrived& arrived) {
    ScratchTranspose scratch(l_, scratch_.computation(), values_, node, operands);
    scratch.FindLinear(t);
    for (size_t i = 0; i < tangents.size() && i < arrived.cotangents.size(); ++i) {
      if (IsZero(tangents[i]) || IsZero(arrived.cotangents[i])) continue;
      scratch.Add(tangents[i].id, arrived.cotangents[i]);
    }
    scratch.Run();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (IsZero(t[i]) || IsZero(scratch.Of(t[i].id))) continue;
      const MaskRef mask = MaskOf(node, operands, i, arrived.mask);
      const bool masked = scratch.multiplies() && mask != nullptr && arrived.mask != nullptr;
      const Op cotangent = scratch.Of(t[i].id);
      Add(operands[i], 0, masked ? Masked(l_, mask, cotangent) : cotangent, mask);
    }
  }

  Lowering& l_;
  const Subgraph& part_;
  PrimalValues& values_;
  Trace scratch_;
  absl::flat_hash_map<NodeId, size_t> inputs_;
  std::vector<bool> active_;
  absl::flat_hash_map<NodeId, Arrived> arrived_;
};

}  // namespace

std::vector<Op> AppendVjp(Lowering& l, const Subgraph& part, PrimalValues& values,
                          absl::Span<const NodeId> outputs, absl::Span<const Op> cotangents) {
  VjpBuilder puller(l, part, values);
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
