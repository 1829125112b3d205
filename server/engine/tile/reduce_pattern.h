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

// Returns the pattern of a reduce that a fused kernel can compute, or nullopt for any other instruction.
std::optional<ReducePattern> MatchReduce(const hlo::Module& module, hlo::Instruction instruction);
// Returns the operation of such a reduce. REQUIRES: MatchReduce found a pattern.
FoldOp FoldOpOf(const hlo::Module& module, hlo::Instruction reduce);

}  // namespace hlod::engine
