// Chains of fused groups over the same rows: a softmax's maximum, sum and quotient read each row while it is in the
// cache, and what they pass on need not exist for all rows at once.
#pragma once

#include <cstddef>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/tile/fusion.h"
#include "server/engine/tile/reduce_pattern.h"

namespace hlod::engine {

// The limit on the groups of a chain.
inline constexpr size_t kPhasesMax = 8;

// Returns true when a chain may consist of such rows.
bool MayChain(const ReducePattern& rows);

// Joins groups that reduce rows with those that read their results row by row: replaces them by one group with
// phases, whose outputs the caller must set. Returns false if there are no such groups.
bool ChainRows(const hlo::Module& module, const hlo::Computation& computation, std::vector<FusionGroup>& groups);

}  // namespace hlod::engine
