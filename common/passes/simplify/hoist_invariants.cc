// Computes values that are the same in every iteration of a loop once, before it. The loop carries them as
// further variables that it does not change:
//
//   body:  a = f32[8] get-tuple-element(p), index=1       body:  f = f32[8] get-tuple-element(p), index=2
//          e = f32[8] exponential(a)                 =>          h = f32[8] multiply(f, x)
//          h = f32[8] multiply(e, x)                      before the loop:  exponential(a)
//
// Broadcasts, slices and reshapes of such values stay in the loop, which reads through them at no cost.
#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// A value that is larger than all that it is computed from must be worth the memory and the time to read it.
constexpr int64_t kGrownBytesMax = 1 << 20;

bool IsView(Opcode opcode) {
  return opcode == kBroadcast || opcode == kReshape || opcode == kSlice || opcode == kIota ||
         opcode == kConstant;
}

// Returns true for operations that take longer than to read their result.
bool IsCostly(Instruction instruction) {
  switch (instruction.opcode()) {
    case kDot:
    case kConvolution:
    case kReduce:
    case kGather:
    case kTranspose:
    case kDivide:
    case kRemainder:
    case kPower: return true;
    default: return std::holds_alternative<AccuracyAttributes>(instruction.attributes());
  }
}

// Returns true for operations that always have the same result for the same operands, and no other effect.
bool IsPure(Instruction instruction) {
  const Opcode opcode = instruction.opcode();
  const Notes* const notes = instruction.computation().notes(instruction.id());
  if (notes != nullptr && !notes->control_predecessors.empty()) return false;
  if (!instruction.shape().IsArray() || instruction.shape().HasDynamicDimension()) return false;
  if (HasTrait(opcode, kElementwise)) return opcode != kStochasticConvert;
  return IsView(opcode) || IsCostly(instruction) || opcode == kConcatenate || opcode == kPad ||
         opcode == kReverse;
}

// Returns true if all that an operation calls, such as a reducer, has no other effect either.
bool CallsOnlyElementwise(const Module& module, Instruction instruction) {
  for (const ComputationId callee : instruction.called()) {
    const Computation& computation = module.computation(callee);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Opcode opcode = computation[id].opcode();
      if (opcode != kParameter && opcode != kConstant && !HasTrait(opcode, kElementwise)) return false;
    }
  }
  return true;
}

// The values of a loop's body that are computed before it.
class Invariants {
 public:
  Invariants(const Module& module, const Computation& body)
      : body_(body), values_(body.size()), carried_(body.size(), kNotCarried) {
    const Instruction root = body[body.root_id()];
    if (root.opcode() != kTuple || root.shape().HasDynamicDimension()) return;
    while (body[parameter_].opcode() != kParameter) ++parameter_;
    for (NodeId id = 0; id < body.size(); ++id) Find(module, root, body[id]);
    // From the last to the first, so that all readers of a value are known.
    for (NodeId id = body.size(); id-- > 0;) {
      Value& value = values_[id];
      if (value.invariant && !value.read) continue;
      if (value.invariant && Carry(id)) continue;
      for (const NodeId operand : body[id].operands()) values_[operand].read = true;
    }
    for (NodeId id = body.size(); id-- > 0;) {
      // The variables of the loop are read from their initial values.
      if (!values_[id].wanted || body[id].opcode() == kGetTupleElement) continue;
      for (const NodeId operand : body[id].operands()) values_[operand].wanted = true;
    }
  }

  // Returns the body's parameter, the loop's variables.
  NodeId parameter() const { return parameter_; }
  // The values, in the order in which the loop carries them.
  const std::vector<NodeId>& carried() const { return order_; }
  // Returns the position of a value among those; kNotCarried for others.
  static constexpr int64_t kNotCarried = -1;
  int64_t PositionOf(NodeId id) const { return carried_[id]; }

  // Appends the carried values to the computation of the loop, whose variables begin as `initial`.
  std::vector<NodeId> ComputeBefore(ComputationCopy& copy, NodeId initial) const {
    absl::flat_hash_map<NodeId, NodeId> known;
    std::vector<NodeId> results;
    for (NodeId id = 0; id < body_.size(); ++id) {
      if (!values_[id].wanted) continue;
      const Instruction old = body_[id];
      absl::InlinedVector<NodeId, 4> operands;
      if (old.opcode() == kGetTupleElement) operands = {initial};
      else
        for (const NodeId operand : old.operands()) operands.push_back(known.at(operand));
      // Names are the body's, where a view may stay.
      known[id] = CloneInstruction(old, operands, copy.to(), ClonedNotes::kNone);
      if (const Notes* notes = body_.notes(id); notes != nullptr)
        copy.to().mutable_notes(known[id]).metadata = notes->metadata;
    }
    for (const NodeId id : order_) results.push_back(known.at(id));
    return results;
  }

  // Returns the shape of the loop's variables with the carried values among them.
  Shape WithCarried(Shape variables) const {
    for (const NodeId id : order_) variables.tuple.push_back(body_[id].shape());
    return variables;
  }

 private:
  struct Value {
    bool invariant = false, costly = false;
    bool read = false;         // True if something in the loop reads it.
    bool wanted = false;       // True if it is computed before the loop.
    int64_t source_bytes = 0;  // The bytes of the largest variable that it is computed from.
  };

  void Find(const Module& module, Instruction root, Instruction instruction) {
    Value& value = values_[instruction.id()];
    if (instruction.opcode() == kGetTupleElement) {
      if (instruction.operand(0).opcode() != kParameter || !instruction.shape().IsArray()) return;
      const int64_t index = instruction.attributes<TupleIndexAttributes>().index;
      const Instruction next = root.operand(static_cast<uint32_t>(index));
      value.invariant = next.opcode() == kGetTupleElement && next.operand(0).opcode() == kParameter &&
                        next.attributes<TupleIndexAttributes>().index == index;
      value.source_bytes = ByteSize(instruction.shape()).value_or(0);
      return;
    }
    if (!IsPure(instruction) || !CallsOnlyElementwise(module, instruction)) return;
    value.costly = IsCostly(instruction);
    for (const NodeId operand : instruction.operands()) {
      if (!values_[operand].invariant) return;
      value.costly = value.costly || values_[operand].costly;
      value.source_bytes = std::max(value.source_bytes, values_[operand].source_bytes);
    }
    value.invariant = true;
  }

  // Lets the loop carry an invariant value. Returns false if the loop should compute it.
  bool Carry(NodeId id) {
    const Value& value = values_[id];
    const Opcode opcode = body_[id].opcode();
    if (IsView(opcode) || opcode == kGetTupleElement || id < parameter_) return false;
    const int64_t bytes = ByteSize(body_[id].shape()).value_or(kGrownBytesMax + 1);
    const int64_t most = value.costly ? std::max(value.source_bytes, kGrownBytesMax)
                                      : std::min(value.source_bytes, kGrownBytesMax);
    if (bytes > most) return false;
    carried_[id] = static_cast<int64_t>(order_.size());
    order_.push_back(id);
    values_[id].wanted = true;
    return true;
  }

  const Computation& body_;
  NodeId parameter_ = 0;
  std::vector<Value> values_;
  std::vector<int64_t> carried_;
  std::vector<NodeId> order_;
};

// Rewrites the loops of a module.
class Hoisting {
 public:
  explicit Hoisting(const Module& module) : of_body_(module.computation_count()) {
    of_condition_.resize(module.computation_count(), kNone);
    std::vector<int> callers(module.computation_count(), 0);
    ForEachInstruction(module, [&](Instruction instruction) {
      for (const ComputationId callee : instruction.called()) ++callers[callee];
    });
    ForEachInstruction(module, [&](Instruction loop) {
      if (loop.opcode() != kWhile) return;
      const ComputationId body = loop.called()[0], condition = loop.called()[1];
      // A computation that others call, too, keeps its parameter.
      if (callers[body] != 1 || callers[condition] != 1) return;
      const Notes* const notes = loop.computation().notes(loop.id());
      if (notes != nullptr && !notes->sharding.empty()) return;
      Invariants invariants(module, module.computation(body));
      if (invariants.carried().empty()) return;
      of_body_[body].emplace(std::move(invariants));
      of_condition_[condition] = body;
    });
  }

  NodeId Copy(ComputationCopy& copy, ComputationId computation, Instruction instruction) const {
    const ComputationId body = of_condition_[computation] != kNone ? of_condition_[computation] : computation;
    const std::optional<Invariants>& inside = of_body_[body];
    if (inside && instruction.opcode() == kParameter)
      return copy.Clone(instruction, Widened(copy, *inside, instruction));
    if (inside && body == computation) {
      if (const int64_t position = inside->PositionOf(instruction.id()); position != Invariants::kNotCarried)
        return Carried(copy, *inside, instruction, position);
      if (instruction.id() == instruction.computation().root_id()) return Root(copy, *inside, instruction);
    }
    if (instruction.opcode() == kWhile && of_body_[instruction.called()[0]])
      return Loop(copy, *of_body_[instruction.called()[0]], instruction);
    return copy.Clone(instruction);
  }

 private:
  static constexpr ComputationId kNone = ~ComputationId{0};

  template <typename F>
  static void ForEachInstruction(const Module& module, F f) {
    for (ComputationId c = 0; c < module.computation_count(); ++c) {
      const Computation& computation = module.computation(c);
      for (NodeId id = 0; id < computation.size(); ++id) f(computation[id]);
    }
  }

  static ShapeId Widened(ComputationCopy& copy, const Invariants& invariants, Instruction variables) {
    return copy.tables().Intern(invariants.WithCarried(variables.shape()));
  }

  // Returns element `index` of a tuple.
  static NodeId Element(ComputationCopy& copy, Instruction old, ShapeId shape, NodeId tuple, int64_t index) {
    return copy.Replace(old, kGetTupleElement, shape, TupleIndexAttributes{index}, {tuple});
  }

  // Reads a carried value from the variables.
  static NodeId Carried(ComputationCopy& copy, const Invariants& invariants, Instruction instruction,
                        int64_t position) {
    const Instruction variables = instruction.computation()[invariants.parameter()];
    return Element(copy, instruction, instruction.shape_id(), copy.node(variables.id()),
                   static_cast<int64_t>(variables.shape().tuple.size()) + position);
  }

  // Appends the carried values to the variables for the next iteration.
  static NodeId Root(ComputationCopy& copy, const Invariants& invariants, Instruction root) {
    absl::InlinedVector<NodeId, 8> next = copy.operands(root);
    for (const NodeId id : invariants.carried()) next.push_back(copy.node(id));
    return copy.CloneOver(root, next, Widened(copy, invariants, root));
  }

  static NodeId Loop(ComputationCopy& copy, const Invariants& invariants, Instruction loop) {
    const NodeId initial = copy.node(loop.operands()[0]);
    const std::vector<NodeId> carried = invariants.ComputeBefore(copy, initial);
    const size_t variables = loop.shape().tuple.size();
    const ShapeId wide = Widened(copy, invariants, loop);
    std::vector<ShapeId> shapes;
    for (const Shape& shape : loop.shape().tuple) shapes.push_back(copy.tables().Intern(shape));
    std::vector<NodeId> elements;
    for (size_t i = 0; i < variables; ++i)
      elements.push_back(Element(copy, loop, shapes[i], initial, static_cast<int64_t>(i)));
    elements.insert(elements.end(), carried.begin(), carried.end());
    const NodeId begin = copy.Replace(loop, kTuple, wide, NoAttributes{}, elements);
    const NodeId end = copy.CloneOver(loop, {begin}, wide);
    for (size_t i = 0; i < variables; ++i)
      elements[i] = Element(copy, loop, shapes[i], end, static_cast<int64_t>(i));
    return copy.Replace(loop, kTuple, loop.shape_id(), NoAttributes{},
                        absl::MakeConstSpan(elements).subspan(0, variables));
  }

  std::vector<std::optional<Invariants>> of_body_;
  std::vector<ComputationId> of_condition_;  // The body of the loop of which it is the condition, or kNone.
};

}  // namespace

bool HasLoops(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (computation[id].opcode() == kWhile) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> HoistInvariants(const Module& module, PassWatch* watch) {
  const Hoisting hoisting(module);
  ComputationId computation = 0;
  const Computation* current = &module.computation(0);
  return Rewritten(module, watch, [&](ComputationCopy& copy, Instruction instruction) {
    while (current != &instruction.computation()) current = &module.computation(++computation);
    return hoisting.Copy(copy, computation, instruction);
  });
}

}  // namespace hlod::passes
