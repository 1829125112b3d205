// Simplifies reductions. A reduction of one element is that element. A reduction along which arrays of one
// shape were concatenated combines these arrays element by element instead, which needs no memory for the
// concatenation and may be fused with what computes them:
//
//   reduce(concatenate(a, b, c), dimensions={0, 2})  becomes  reduce(add(add(a, b), c), dimensions={0, 2})
#include <limits>
#include <utility>
#include <vector>

#include "common/passes/simplify/simplify.h"

namespace hlod::passes {

using namespace hlo;

namespace {

// Returns the operation of a reducer of two scalars that consists of it, or nullopt for another reducer.
std::optional<Opcode> PlainOperation(const ComputationCopy& copy, Instruction reduce) {
  const Computation& reducer = copy.module().computation(reduce.called()[0]);
  const Instruction root = reducer.root();
  if (reduce.operand_count() != 2 || reducer.size() != 3 || root.operand_count() != 2 ||
      root.operands()[0] == root.operands()[1]) {
    return std::nullopt;
  }
  return root.opcode();
}

// Returns true when `init` is an identity of the reducer, so that applying it any number of times changes no
// result. HLO requires this of an init; here it is checked.
bool IsIdentity(Opcode opcode, const Shape& scalar, double init) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool real = IsFloat(scalar.type), pred = scalar.type == kPred;
  switch (opcode) {
    case kAdd: return init == 0;
    case kMultiply: return init == 1;
    case kMaximum: return real ? init == -kInfinity : pred && init == 0;
    case kMinimum: return real ? init == kInfinity : pred && init == 1;
    case kAnd: return pred && init == 1;
    case kOr: return init == 0;
    default: return false;
  }
}

bool HasNeutralInit(ComputationCopy& copy, Instruction reduce, Opcode operation) {
  const std::optional<double> init = SplatValue(copy.operand(reduce, 1));
  return init.has_value() && IsIdentity(operation, reduce.operand(1).shape(), *init);
}

// A reduction over dimensions of size 1, whose init is an identity, returns its input.
NodeId ReduceOfOne(ComputationCopy& copy, Instruction instruction) {
  const std::optional<Opcode> operation = PlainOperation(copy, instruction);
  if (!operation) return kUnchanged;
  const Shape& whole = instruction.operand(0).shape();
  for (const int64_t d : instruction.dimensions()) {
    if (whole.dims[d] != 1) return kUnchanged;
  }
  if (!HasNeutralInit(copy, instruction, *operation)) return kUnchanged;
  const NodeId operand = copy.node(instruction.operands()[0]);
  if (Compatible(whole, instruction.shape())) return operand;
  return copy.Replace(instruction, kReshape, instruction.shape_id(), DimensionsAttributes{}, {operand});
}

// With more pieces, an element would depend on more memory than a fused step reads in one pass.
constexpr uint32_t kPiecesMax = 16;

// Combines values of one shape from the first to the last, as XLA does. (In pairs, sums would round less; but
// where two pairs overflow, their combination could be NaN.)
NodeId InOrder(ComputationCopy& copy, Instruction instruction, Opcode opcode, ShapeId shape,
               const std::vector<NodeId>& values) {
  NodeId joined = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    joined = copy.Replace(instruction, opcode, shape, NoAttributes{}, {joined, values[i]});
  return joined;
}

// Returns the pieces of the operand of a reduce if they have one shape, and are reduced along the dimension
// along which they are concatenated; else an empty vector.
std::vector<NodeId> ReducedPieces(ComputationCopy& copy, Instruction reduce) {
  const Instruction whole = copy.operand(reduce, 0);
  if (whole.opcode() != kConcatenate || reduce.operand(0).opcode() != kConcatenate ||
      whole.operand_count() > kPiecesMax || copy.use_count(reduce.operands()[0]) != 1) {
    return {};
  }
  bool reduced = false;
  for (const int64_t d : reduce.dimensions()) reduced |= d == whole.dimensions()[0];
  for (uint32_t i = 0; i < whole.operand_count(); ++i)
    reduced &= Compatible(whole.operand(i).shape(), whole.operand(0).shape());
  if (!reduced) return {};
  return {whole.operands().begin(), whole.operands().end()};
}

// Returns true if a reduction of one piece has nothing to add up, so that its result is the piece.
bool EachIsOneResult(const Shape& piece, Instruction reduce) {
  return ElementCount(piece) == ElementCount(reduce.shape());
}

// A reduction of narrow floats adds and multiplies in f32, and rounds once.
NodeId JoinedInF32(ComputationCopy& copy, Instruction instruction, Opcode opcode,
                   std::vector<NodeId> pieces) {
  const Shape piece = copy.to()[pieces[0]].shape();
  Shape wide = piece;
  wide.type = kF32;
  const ShapeId narrow_id = copy.to()[pieces[0]].shape_id(), wide_id = copy.tables().Intern(wide);
  for (NodeId& value : pieces) value = copy.Replace(instruction, kConvert, wide_id, NoAttributes{}, {value});
  const NodeId joined = InOrder(copy, instruction, opcode, wide_id, pieces);
  return copy.Replace(instruction, kConvert, narrow_id, NoAttributes{}, {joined});
}

NodeId ReduceOfPieces(ComputationCopy& copy, Instruction instruction) {
  const std::optional<Opcode> operation = PlainOperation(copy, instruction);
  if (!operation || !IsCommutative(*operation)) return kUnchanged;
  std::vector<NodeId> pieces = ReducedPieces(copy, instruction);
  if (pieces.empty()) return kUnchanged;
  const Shape& piece = copy.to()[pieces[0]].shape();
  const bool in_f32 =
      IsFloat(piece.type) && Info(piece.type).bits < 32 && (*operation == kAdd || *operation == kMultiply);
  if (in_f32 && (!EachIsOneResult(piece, instruction) || !HasNeutralInit(copy, instruction, *operation)))
    return kUnchanged;
  const ShapeId shape = copy.to()[pieces[0]].shape_id();
  const NodeId joined = in_f32 ? JoinedInF32(copy, instruction, *operation, std::move(pieces))
                               : InOrder(copy, instruction, *operation, shape, pieces);
  return copy.CloneOver(instruction, {joined, copy.node(instruction.operands()[1])});
}

}  // namespace

NodeId SimplifyReduction(ComputationCopy& copy, Instruction instruction) {
  if (instruction.opcode() != kReduce) return kUnchanged;
  const NodeId one = ReduceOfOne(copy, instruction);
  return one != kUnchanged ? one : ReduceOfPieces(copy, instruction);
}

}  // namespace hlod::passes
