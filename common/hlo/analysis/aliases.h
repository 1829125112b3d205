// Which results may lie in an argument's memory.
#pragma once

#include <vector>

#include "common/hlo/flat_signature.h"

namespace hlod::hlo {

// For each result (array leaf of the root) the argument (array leaf of the parameters) that the module lets
// it share memory with, or -1; buffer donors serve results that have none.
std::vector<int> ResolveAliases(const Module& module, const FlatSignature& signature);

}  // namespace hlod::hlo
