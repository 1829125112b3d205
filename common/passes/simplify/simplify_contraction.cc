// Simplifies around contractions. A dot accepts its operands' dimensions in any order, so it can absorb
// transposes of its operands and of its result. A dot that sums one product only is a product of broadcasts,
// which may be fused with what reads it.
#include <algorithm>
#include <optional>

#include "common/passes/simplify/simplify.h"

namespace hlod::passes {

using namespace hlo;

namespace {

Dims Mapped(const Dims& dims, const Dims& permutation) {
  Dims mapped;
  for (const int64_t d : dims) mapped.push_back(permutation[d]);
  return mapped;
}

bool Contains(const Dims& dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); }

// Returns true when the permutation keeps the order of the dimensions that are in neither list, because the
// result has them in order.
bool KeepsFreeOrder(const Dims& permutation, const Dims& contracting, const Dims& batch) {
  int64_t last = -1;
  for (size_t d = 0; d < permutation.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (Contains(contracting, dimension) || Contains(batch, dimension)) continue;
    if (permutation[d] < last) return false;
    last = permutation[d];
  }
  return true;
}

// Rewrites dot(transpose(x), y) as a dot of x with its dimensions renamed.
NodeId AbsorbTransposes(ComputationCopy& copy, Instruction instruction) {
  DotAttributes dot = instruction.attributes<DotAttributes>();
  NodeId operands[] = {copy.node(instruction.operands()[0]), copy.node(instruction.operands()[1])};
  bool changed = false;
  const auto absorb = [&](NodeId& operand, Dims& contracting, Dims& batch) {
    const Instruction transpose = copy.to()[operand];
    if (transpose.opcode() != kTranspose || !KeepsFreeOrder(transpose.dimensions(), contracting, batch))
      return;
    contracting = Mapped(contracting, transpose.dimensions());
    batch = Mapped(batch, transpose.dimensions());
    operand = transpose.operands()[0];
    changed = true;
  };
  absorb(operands[0], dot.lhs_contracting, dot.lhs_batch);
  absorb(operands[1], dot.rhs_contracting, dot.rhs_batch);
  return changed ? copy.Replace(instruction, kDot, instruction.shape_id(), dot, operands) : kUnchanged;
}

// Rewrites transpose(dot(x, y)) as dot(y, x) if it swaps the free dimensions of x and y, and the dot has no
// other use.
NodeId SwapTransposedDot(ComputationCopy& copy, Instruction instruction) {
  const Instruction operand = copy.operand(instruction, 0);
  if (operand.opcode() != kDot || copy.use_count(instruction.operands()[0]) != 1) return kUnchanged;
  const DotAttributes& dot = operand.attributes<DotAttributes>();
  const auto batch = static_cast<int64_t>(dot.lhs_batch.size());
  const int64_t left =
      operand.operand(0).shape().rank() - batch - static_cast<int64_t>(dot.lhs_contracting.size());
  const Dims& permutation = instruction.dimensions();
  const auto rank = static_cast<int64_t>(permutation.size());
  for (int64_t d = 0; d < rank; ++d) {
    // Batch dimensions stay in front; then come those of the right operand, then those of the left.
    const int64_t expected = d < batch ? d : d < rank - left ? d + left : d - (rank - batch - left);
    if (permutation[d] != expected) return kUnchanged;
  }
  DotAttributes swapped = dot;
  std::swap(swapped.lhs_batch, swapped.rhs_batch);
  std::swap(swapped.lhs_contracting, swapped.rhs_contracting);
  if (swapped.precision.operand.size() == 2)
    std::swap(swapped.precision.operand[0], swapped.precision.operand[1]);
  const NodeId operands[] = {operand.operands()[1], operand.operands()[0]};
  return copy.Replace(instruction, kDot, instruction.shape_id(), swapped, operands);
}

// Returns an operand without its contracted dimensions, which have one element, broadcast to the dot's
// result. `first_free` is the result's first dimension that is a free one of this operand. Nullopt if the
// operand's dimensions are in another order than the result's.
std::optional<NodeId> BroadcastToResult(ComputationCopy& copy, Instruction instruction, uint32_t operand,
                                        const Dims& batch, const Dims& contracting, int64_t first_free) {
  const Shape& shape = instruction.operand(operand).shape();
  DimensionsAttributes places;
  Shape kept = shape;
  kept.dims.clear();
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Contains(contracting, d)) continue;
    const auto found = std::find(batch.begin(), batch.end(), d);
    const int64_t place = found != batch.end() ? found - batch.begin() : first_free++;
    if (!places.dimensions.empty() && place < places.dimensions.back()) return std::nullopt;
    places.dimensions.push_back(place);
    kept.dims.push_back(shape.dims[d]);
  }
  NodeId value = copy.node(instruction.operands()[operand]);
  if (kept.dims.size() != shape.dims.size())
    value = copy.Replace(instruction, kReshape, copy.tables().Intern(kept), DimensionsAttributes{}, {value});
  if (kept.dims == instruction.shape().dims) return value;
  return copy.Replace(instruction, kBroadcast, instruction.shape_id(), places, {value});
}

// Rewrites a dot whose contracted dimensions have one element as a product.
NodeId ProductOfBroadcasts(ComputationCopy& copy, Instruction instruction) {
  const DotAttributes& dot = instruction.attributes<DotAttributes>();
  const Shape &lhs = instruction.operand(0).shape(), &rhs = instruction.operand(1).shape();
  const PrimitiveType type = instruction.shape().type;
  if (lhs.type != type || rhs.type != type || type == kPred || ElementCount(instruction.shape()) == 0)
    return kUnchanged;
  for (const int64_t d : dot.lhs_contracting) {
    if (lhs.dims[d] != 1) return kUnchanged;
  }
  const auto batch = static_cast<int64_t>(dot.lhs_batch.size());
  const int64_t left = lhs.rank() - batch - static_cast<int64_t>(dot.lhs_contracting.size());
  const auto a = BroadcastToResult(copy, instruction, 0, dot.lhs_batch, dot.lhs_contracting, batch);
  if (!a.has_value()) return kUnchanged;
  const auto b = BroadcastToResult(copy, instruction, 1, dot.rhs_batch, dot.rhs_contracting, batch + left);
  if (!b.has_value()) return kUnchanged;
  return copy.Replace(instruction, kMultiply, instruction.shape_id(), NoAttributes{}, {*a, *b});
}

}  // namespace

NodeId SimplifyContraction(ComputationCopy& copy, Instruction instruction) {
  switch (instruction.opcode()) {
    case kDot: {
      const NodeId product = ProductOfBroadcasts(copy, instruction);
      return product != kUnchanged ? product : AbsorbTransposes(copy, instruction);
    }
    case kTranspose: return SwapTransposedDot(copy, instruction);
    default: return kUnchanged;
  }
}

}  // namespace hlod::passes
