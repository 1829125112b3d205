// Simplifies data movement: removes instructions that do not move data, and merges chains into one
// instruction.
#include <algorithm>
#include <array>
#include <string_view>

#include "common/hlo/bitcast.h"
#include "common/passes/simplify/simplify.h"

namespace hlod::passes {

using namespace hlo;

namespace {

NodeId OperandNode(const ComputationCopy& copy, Instruction instruction, uint32_t i = 0) {
  return copy.node(instruction.operands()[i]);
}

// Returns operand 0 if it has the instruction's shape.
NodeId OperandIfSameShape(const ComputationCopy& copy, Instruction instruction) {
  const bool same = Compatible(instruction.shape(), copy.operand(instruction, 0).shape());
  return same ? OperandNode(copy, instruction) : kUnchanged;
}

bool Ascends(const Dims& dims) { return std::is_sorted(dims.begin(), dims.end()); }

bool CountsUp(const Dims& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Returns a broadcast of `node` to the instruction's shape. Dimension i of `node` becomes dimension dims[i].
NodeId BroadcastOf(ComputationCopy& copy, Instruction instruction, NodeId node, Dims dims) {
  return copy.Replace(instruction, kBroadcast, instruction.shape_id(), DimensionsAttributes{std::move(dims)},
                      {node});
}

NodeId ReshapeOf(ComputationCopy& copy, Instruction instruction, NodeId node) {
  if (Compatible(copy.to()[node].shape(), instruction.shape())) return node;
  return copy.Replace(instruction, kReshape, instruction.shape_id(), DimensionsAttributes{}, {node});
}

NodeId SimplifyReshape(ComputationCopy& copy, Instruction instruction) {
  if (const NodeId same = OperandIfSameShape(copy, instruction); same != kUnchanged) return same;
  const Instruction operand = copy.operand(instruction, 0);
  if (operand.shape().IsScalar()) return BroadcastOf(copy, instruction, operand.id(), {});
  if (const NodeId scalar = SplatSource(operand); scalar != kUnchanged) {
    return instruction.shape().IsScalar() ? scalar : BroadcastOf(copy, instruction, scalar, {});
  }
  if (operand.opcode() == kReshape) return ReshapeOf(copy, instruction, operand.operands()[0]);
  return kUnchanged;
}

NodeId SimplifyBitcast(ComputationCopy& copy, Instruction instruction) {
  const Shape &to = instruction.shape(), &from = copy.operand(instruction, 0).shape();
  if (!IsRowMajor(to) || !IsRowMajor(from) || to.type != from.type) return kUnchanged;
  return ReshapeOf(copy, instruction, OperandNode(copy, instruction));
}

NodeId SimplifyBroadcast(ComputationCopy& copy, Instruction instruction) {
  const Dims& dims = instruction.dimensions();
  const Instruction operand = copy.operand(instruction, 0);
  if (CountsUp(dims) && Compatible(instruction.shape(), operand.shape())) return operand.id();
  if (operand.opcode() != kBroadcast) return kUnchanged;
  Dims composed;
  for (const int64_t d : operand.dimensions()) composed.push_back(dims[d]);
  return BroadcastOf(copy, instruction, operand.operands()[0], std::move(composed));
}

// Returns true when a permutation keeps the order of all dimensions of size other than 1, so that no element
// moves.
bool MovesOnlyOnes(const Dims& permutation, const Shape& operand) {
  int64_t last = -1;
  for (const int64_t d : permutation) {
    if (operand.dims[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

NodeId SimplifyTranspose(ComputationCopy& copy, Instruction instruction) {
  const Dims& permutation = instruction.dimensions();
  const Instruction operand = copy.operand(instruction, 0);
  if (CountsUp(permutation)) return operand.id();
  if (const NodeId scalar = SplatSource(operand); scalar != kUnchanged)
    return BroadcastOf(copy, instruction, scalar, {});
  if (operand.opcode() == kTranspose) {
    Dims composed;
    for (const int64_t d : permutation) composed.push_back(operand.dimensions()[d]);
    const NodeId source = operand.operands()[0];
    if (CountsUp(composed)) return source;
    return copy.Replace(instruction, kTranspose, instruction.shape_id(), DimensionsAttributes{composed},
                        {source});
  }
  if (MovesOnlyOnes(permutation, operand.shape())) {
    const NodeId source = operand.opcode() == kReshape ? operand.operands()[0] : operand.id();
    return ReshapeOf(copy, instruction, source);
  }
  if (operand.opcode() == kBroadcast) {
    // Maps dimension k of the broadcast's source to its position after the transpose, unless that would
    // permute the source.
    Dims moved;
    for (const int64_t d : operand.dimensions()) {
      moved.push_back(std::find(permutation.begin(), permutation.end(), d) - permutation.begin());
    }
    if (Ascends(moved)) return BroadcastOf(copy, instruction, operand.operands()[0], std::move(moved));
  }
  return kUnchanged;
}

// A dynamic slice of the whole is the operand: every start is clamped to zero.
NodeId SimplifySlice(ComputationCopy& copy, Instruction instruction) {
  if (const NodeId same = OperandIfSameShape(copy, instruction); same != kUnchanged) return same;
  const NodeId scalar = SplatSource(copy.operand(instruction, 0));
  return scalar == kUnchanged ? kUnchanged : BroadcastOf(copy, instruction, scalar, {});
}

NodeId SimplifyPad(ComputationCopy& copy, Instruction instruction) {
  // Equal sizes are not sufficient: padding may add at one end and remove at the other.
  for (const PadDimension& pad : instruction.attributes<PadAttributes>().dimensions) {
    if (pad.low != 0 || pad.high != 0) return kUnchanged;
  }
  return OperandIfSameShape(copy, instruction);
}

NodeId SimplifyReverse(ComputationCopy& copy, Instruction instruction) {
  for (const int64_t d : instruction.dimensions()) {
    if (instruction.shape().dims[d] > 1) return kUnchanged;
  }
  return OperandNode(copy, instruction);
}

NodeId SimplifyGetTupleElement(ComputationCopy& copy, Instruction instruction) {
  const Instruction tuple = copy.operand(instruction, 0);
  if (tuple.opcode() != kTuple) return kUnchanged;
  return tuple.operands()[instruction.attributes<TupleIndexAttributes>().index];
}

// Replaces a tuple that consists of all elements of another tuple, in order, by that tuple.
NodeId SimplifyTuple(ComputationCopy& copy, Instruction instruction) {
  NodeId source = kUnchanged;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const Instruction element = copy.operand(instruction, i);
    if (element.opcode() != kGetTupleElement || element.attributes<TupleIndexAttributes>().index != i)
      return kUnchanged;
    if (i > 0 && element.operands()[0] != source) return kUnchanged;
    source = element.operands()[0];
  }
  const size_t whole = copy.to()[source].shape().tuple.size();
  return whole == instruction.operand_count() ? source : kUnchanged;
}

// Returns true for targets that return a value unchanged and mark it for partitioning or placement, which has
// no effect on one device.
bool IsMark(std::string_view target) {
  constexpr std::array<std::string_view, 6> kMarks = {
      "Sharding",           "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "LocalToGlobalShape", "GlobalToLocalShape"};
  return std::find(kMarks.begin(), kMarks.end(), target) != kMarks.end() || target.starts_with("xla.sdy.");
}

NodeId SimplifyCustomCall(ComputationCopy& copy, Instruction instruction) {
  const bool mark =
      instruction.operand_count() == 1 && IsMark(instruction.attributes<CustomCallAttributes>().target);
  return mark ? OperandIfSameShape(copy, instruction) : kUnchanged;
}

}  // namespace

NodeId SplatSource(Instruction instruction) {
  const bool splat = instruction.opcode() == kBroadcast && instruction.operand(0).shape().IsScalar();
  return splat ? instruction.operands()[0] : kUnchanged;
}

NodeId SimplifyMovement(ComputationCopy& copy, Instruction instruction) {
  switch (instruction.opcode()) {
    case kReshape: return SimplifyReshape(copy, instruction);
    case kBitcast: return SimplifyBitcast(copy, instruction);
    case kBroadcast: return SimplifyBroadcast(copy, instruction);
    case kTranspose: return SimplifyTranspose(copy, instruction);
    case kSlice:
    case kDynamicSlice: return SimplifySlice(copy, instruction);
    case kPad: return SimplifyPad(copy, instruction);
    case kReverse: return SimplifyReverse(copy, instruction);
    case kCopy:
    case kDomain: return OperandIfSameShape(copy, instruction);
    case kConcatenate: return instruction.operand_count() == 1 ? OperandNode(copy, instruction) : kUnchanged;
    case kDynamicUpdateSlice: {
      const bool whole = Compatible(instruction.shape(), copy.operand(instruction, 1).shape());
      return whole ? OperandNode(copy, instruction, 1) : kUnchanged;
    }
    case kGetTupleElement: return SimplifyGetTupleElement(copy, instruction);
    case kTuple: return SimplifyTuple(copy, instruction);
    case kCustomCall: return SimplifyCustomCall(copy, instruction);
    default: return kUnchanged;
  }
}

}  // namespace hlod::passes
