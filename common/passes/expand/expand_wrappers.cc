// Replaces each instruction in one pass: by a tuple if it has several results, otherwise by the operand.
#include "common/passes/expand/expand_wrappers.h"

#include "common/hlo/collectives/collective.h"
#include "common/hlo/collectives/replica_groups.h"
#include "common/hlo/dynamic/ragged_dot.h"
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// Makes the replacement of one instruction.
class Replacement {
 public:
  Replacement(ComputationCopy& copy, Instruction instruction)
      : copy_(copy), instruction_(instruction), operands_(copy.operands(instruction)) {}

  NodeId Operand() const { return operands_[0]; }
  // Returns a single operand itself, or several operands as a tuple.
  NodeId EachOperand() { return operands_.size() == 1 ? operands_[0] : Tuple(operands_); }
  NodeId AllToAll() { return instruction_.shape().IsTuple() ? Tuple(operands_) : operands_[0]; }
  NodeId Element(int64_t index) {
    return copy_.Replace(instruction_, kGetTupleElement, instruction_.shape_id(), TupleIndexAttributes{index},
                         {operands_[0]});
  }
  NodeId CopyStart() { return Started(operands_[0], operands_[0]); }
  NodeId AllGatherStart() {
    const NodeId both = EachOperand();
    return Started(both, both);
  }
  NodeId AsyncStart() {
    const Computation& callee = copy_.module().computation(instruction_.called()[0]);
    const ComputationId called[] = {copy_.computation(instruction_.called()[0])};
    Tables& tables = copy_.tables();
    const NodeId result = copy_.to().Append(kCall, callee.root().shape_id(),
                                            tables.Intern(Attributes(CallAttributes{})), operands_, called);
    return Started(Tuple(operands_), result);
  }
  // Device 0 sends to itself; or it receives from no device, and gets zeros.
  NodeId Permuted() {
    if (!instruction_.attributes<PermuteAttributes>().pairs.empty()) return EachOperand();
    absl::InlinedVector<NodeId, 8> zeros;
    for (const NodeId operand : operands_) zeros.push_back(Zeros(Shape(copy_.to()[operand].shape())));
    return zeros.size() == 1 ? zeros[0] : Tuple(zeros);
  }
  NodeId PermuteStart() {
    const NodeId sent = EachOperand();
    return Started(sent, Permuted());
  }
  NodeId Dot() {
    return copy_.Replace(instruction_, kDot, instruction_.shape_id(),
                         instruction_.attributes<RaggedDotAttributes>().dot, {operands_[0], operands_[1]});
  }

 private:
  NodeId Tuple(absl::Span<const NodeId> elements) {
    std::vector<Shape> shapes;
    for (const NodeId element : elements) shapes.push_back(copy_.to()[element].shape());
    return copy_.Replace(instruction_, kTuple, copy_.tables().Intern(Shape::Tuple(std::move(shapes))),
                         NoAttributes{}, elements);
  }
  NodeId Zeros(const Shape& shape) {
    Tables& tables = copy_.tables();
    const Shape scalar = Shape::Scalar(shape.type);
    const LiteralId zero = tables.Intern(std::make_shared<const Literal>(scalar));
    const NodeId constant =
        copy_.Replace(instruction_, kConstant, tables.Intern(scalar), ConstantAttributes{zero}, {});
    if (shape.IsScalar()) return constant;
    return copy_.Replace(instruction_, kBroadcast, tables.Intern(shape), DimensionsAttributes{}, {constant});
  }
  // Returns (first, second, context...).
  NodeId Started(NodeId first, NodeId second) {
    absl::InlinedVector<NodeId, 4> elements = {first, second};
    const std::vector<Shape>& shapes = instruction_.shape().tuple;
    for (size_t i = elements.size(); i < shapes.size(); ++i) elements.push_back(Zeros(shapes[i]));
    return copy_.Replace(instruction_, kTuple, instruction_.shape_id(), NoAttributes{}, elements);
  }

  ComputationCopy& copy_;
  const Instruction instruction_;
  const absl::InlinedVector<NodeId, 8> operands_;
};

// Null for instructions that are kept.
using Rule = NodeId (*)(Replacement&);

Rule RuleOf(const Module& module, Instruction instruction) {
  if (HasTrait(instruction.opcode(), kCollective) && !IsCollectiveEnd(instruction.opcode()) &&
      (ParticipantsOf(module).count() > 1 || !CheckOneParticipant(instruction).ok()))
    return nullptr;
  switch (instruction.opcode()) {
    case kCopyStart: return [](Replacement& r) { return r.CopyStart(); };
    case kCopyDone: return [](Replacement& r) { return r.Element(0); };
    case kAsyncStart: return [](Replacement& r) { return r.AsyncStart(); };
    case kAsyncUpdate:
    case kAllReduceDone: return [](Replacement& r) { return r.Operand(); };
    case kAsyncDone:
    case kAllGatherDone:
    case kCollectivePermuteDone: return [](Replacement& r) { return r.Element(1); };
    case kAllReduce:
    case kAllReduceStart:
    case kAllGather:
    case kReduceScatter:
    case kCollectiveBroadcast:
    case kCollectiveReduce: return [](Replacement& r) { return r.EachOperand(); };
    case kAllToAll: return [](Replacement& r) { return r.AllToAll(); };
    case kAllGatherStart: return [](Replacement& r) { return r.AllGatherStart(); };
    case kCollectivePermute: return [](Replacement& r) { return r.Permuted(); };
    case kCollectivePermuteStart: return [](Replacement& r) { return r.PermuteStart(); };
    case kRaggedDot:
      if (RaggedModeOf(instruction.attributes<RaggedDotAttributes>()) != RaggedMode::kBatch) return nullptr;
      return [](Replacement& r) { return r.Dot(); };
    default: return nullptr;
  }
}

}  // namespace

bool HasWrappers(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (RuleOf(module, computation[id]) != nullptr) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> ExpandWrappers(const Module& module, PassWatch* watch) {
  return Rewritten(module, watch, [](ComputationCopy& copy, Instruction instruction) {
    const Rule rule = RuleOf(copy.module(), instruction);
    if (rule == nullptr) return copy.Clone(instruction);
    Replacement replacement(copy, instruction);
    return rule(replacement);
  });
}

}  // namespace hlod::passes
