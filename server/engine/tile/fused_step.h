// Declarations that the steps of fused groups share.
#pragma once

#include <memory>
#include <string>

#include "server/engine/tile/fusion.h"

namespace hlod::engine {

// Returns a text for Plan::Dump: the first opcodes of the group, and its results.
std::string DescribeGroup(const hlo::Computation& computation, const FusionGroup& group);

// Returns the step of a group that has phases. Null if they are not those of ChainRows.
std::unique_ptr<Step> MakeRowsStep(const hlo::Module& module, const hlo::Computation& computation,
                                   const FusionGroup& group, int threads);

}  // namespace hlod::engine
