// Loops' computations, and functions of scalars that are applied to arrays.
#include "common/passes/simplify/loop_bodies.h"

namespace hlod::passes {

using namespace hlo;

std::vector<bool> ComputationsInLoops(const Module& module) {
  std::vector<bool> inside(module.computation_count(), false);
  // Callees come before their callers.
  for (ComputationId c = module.computation_count(); c-- > 0;) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      const bool runs_callees =
          instruction.opcode() == kWhile ||
          (inside[c] && (instruction.opcode() == kConditional || instruction.opcode() == kCall));
      if (!runs_callees) continue;
      for (const ComputationId callee : instruction.called()) inside[callee] = true;
    }
  }
  return inside;
}

bool IsExact(PrimitiveType type) {
  switch (type) {
    case kPred:
    case kS32:
    case kU32:
    case kS64:
    case kU64:
    case kF32:
    case kF64: return true;
    default: return false;
  }
}

bool IsElementwiseFunction(const Computation& function) {
  for (NodeId id = 0; id < function.size(); ++id) {
    const Instruction instruction = function[id];
    if (instruction.opcode() == kTuple && id == function.root_id()) continue;
    if (!instruction.shape().IsScalar() || !IsExact(instruction.shape().type)) return false;
    const bool known = instruction.opcode() == kParameter || instruction.opcode() == kConstant ||
                       HasTrait(instruction.opcode(), kElementwise);
    if (!known) return false;
  }
  return true;
}

NodeId Spread(ComputationCopy& copy, Instruction old, NodeId scalar, const Dims& dims) {
  if (dims.empty()) return scalar;
  const ShapeId shape = copy.tables().Intern(Shape::Array(copy.to()[scalar].shape().type, dims));
  return copy.Replace(old, kBroadcast, shape, DimensionsAttributes{}, {scalar});
}

std::vector<NodeId> ApplyToArrays(ComputationCopy& copy, Instruction old, const Computation& function,
                                  const std::vector<NodeId>& arguments, const Dims& dims) {
  InstructionCloner cloner(function, copy.to(), {.callee = nullptr, .translation = nullptr, .notes = false});
  for (NodeId id = 0; id < function.size(); ++id) {
    const Instruction instruction = function[id];
    if (instruction.opcode() == kParameter) {
      cloner.set_node(id, arguments[static_cast<size_t>(instruction.parameter_number())]);
    } else if (instruction.opcode() == kConstant) {
      cloner.set_node(id, Spread(copy, old, cloner.Append(instruction), dims));
    } else if (instruction.opcode() != kTuple) {
      cloner.Clone(id, {.shape = copy.tables().Intern(Shape::Array(instruction.shape().type, dims))});
    }
  }
  const Instruction root = function.root();
  if (root.opcode() != kTuple) return {cloner.node(root.id())};
  std::vector<NodeId> results;
  for (const NodeId operand : root.operands()) results.push_back(cloner.node(operand));
  return results;
}

}  // namespace hlod::passes
