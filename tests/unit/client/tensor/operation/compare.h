// Comparison of an operation's results with those that PyTorch recorded.
#pragma once

#include <string>

#include "tests/unit/client/tensor/operation/arguments.h"

namespace hlod {

// Returns "" when the results have the recorded types, dimensions and, within the type's tolerance times
// `slack`, values; otherwise a description of the first difference. Reads the results.
std::string Difference(const nlohmann::json& expected, const Results& results, double slack);

}  // namespace hlod
