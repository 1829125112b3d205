// Which results may lie in an argument's memory.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// For each result (array leaf of the root) the argument (array leaf of the parameters) that the module lets
// it share memory with, or -1; buffer donors serve results that have none.
std::vector<int> ResolveAliases(const hlo::Module& module, absl::Span<const hlo::Shape> arguments,
                                absl::Span<const hlo::Shape> results);

}  // namespace hlod::engine
