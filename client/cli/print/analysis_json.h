// JSON for the types that both forms of hloctl check print: brackets, findings, the target.
#pragma once

#include <vector>

#include "client/analysis/check/module_check.h"
#include "client/cli/print/json.h"

namespace hlod::cli {

Json ToJson(const analysis::Bracket& bracket);
Json ToJson(const std::vector<analysis::Finding>& findings);
Json ToJson(const analysis::Target& target);

}  // namespace hlod::cli
