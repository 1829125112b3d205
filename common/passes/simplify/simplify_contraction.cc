// Simplifies around contractions. A dot accepts its operands' dimensions in any order, so it can absorb
// transposes of its operands and of its result.
#include <algorithm>

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

}  // namespace

NodeId SimplifyContraction(ComputationCopy& copy, Instruction instruction) {
  switch (instruction.opcode()) {
    case kDot: return AbsorbTransposes(copy, instruction);
    case kTranspose: return SwapTransposedDot(copy, instruction);
    default: return kUnchanged;
  }
}

}  // namespace hlod::passes
