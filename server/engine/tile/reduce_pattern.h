// The reductions that fused kernels can compute: one operand, a recognised reducer, and adjacent reduced
// dimensions.
#pragma once

#include <cstdint>
#include <optional>

#include "common/hlo/module.h"
#include "server/engine/tile/ops/ops.h"

namespace hlod::engine {

// The operand as [outer, reduced, inner], reduced over the middle dimension.
struct ReducePattern {
  int64_t outer = 1, reduced = 1, inner = 1;
  int64_t count() const { return outer * reduced * inner; }
  friend bool operator==(const ReducePattern&, const ReducePattern&) = default;
};

// Reductions are computed by items: rows (inner == 1), or strips of at most kTile columns. A step is what a tile
// holds of an item.
int64_t StripsOf(const ReducePattern& pattern);
int64_t RowsAStep(const ReducePattern& pattern);
int64_t StepsOf(const ReducePattern& pattern);
// Returns the number of chunks that each item is split into when there are few items, by the pattern alone, so that
// the result has the same bits for every team. A chunk is a number of steps.
int64_t ReductionChunks(const ReducePattern& pattern);

// Returns the pattern of a reduce that a fused kernel can compute, or nullopt for any other instruction.
std::optional<ReducePattern> MatchReduce(const hlo::Module& module, hlo::Instruction instruction);
// Returns the operation of such a reduce. REQUIRES: MatchReduce found a pattern.
FoldOp FoldOpOf(const hlo::Module& module, hlo::Instruction reduce);

}  // namespace hlod::engine
