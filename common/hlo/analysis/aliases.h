// Finds the results that may lie in an argument's memory.
#pragma once

#include <vector>

#include "common/hlo/flat_signature.h"

namespace hlod::hlo {

// Returns, for each result (array leaf of the root), the argument (array leaf of the parameters) whose memory
// the module lets it share, or -1. A buffer donor's memory goes to a result without an alias.
std::vector<int> ResolveAliases(const Module& module, const FlatSignature& signature);

}  // namespace hlod::hlo
