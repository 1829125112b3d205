// Custom-call targets that have a meaning everywhere: hlod's own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod {

// Whether the evaluator has a rule for the target (for some operands).
bool IsOwnCustomCallTarget(std::string_view target);
std::vector<std::string> OwnCustomCallTargets();

// Whether a custom-call is a hint (of sharding, layout or placement) that returns its operand.
bool IsIdentityCustomCall(hlo::Instruction instruction);

// Of a custom-call with such a target: INVALID_ARGUMENT when operands, results or attributes are not the
// target's, FAILED_PRECONDITION when a library is missing.
absl::Status CheckOwnCustomCall(hlo::Instruction instruction);

}  // namespace hlod
