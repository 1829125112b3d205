// Comparing what an operation gave with what PyTorch recorded.
#pragma once

#include <string>

#include "tests/unit/client/tensor/operation/arguments.h"

namespace hlod {

// "" when the results have the recorded types, dimensions and, within the type's tolerance times `slack`,
// values; else what differs first. Reads the results.
std::string Difference(const nlohmann::json& expected, const Results& results, double slack);

}  // namespace hlod
