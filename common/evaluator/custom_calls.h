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

// Custom-calls over two s32 scalars that return the first, or the error that an instruction on dynamic
// dimensions would have ended with: what a program leaves of one when it is rewritten to static shapes. Their
// backend_config is MakeSizeCheck's.
inline constexpr std::string_view kCheckDimensionSizeTarget = "hlod.CheckDimensionSize";  // size, present
inline constexpr std::string_view kCheckSameSizeTarget = "hlod.CheckSameSize";            // size, other
hlo::CustomCallAttributes MakeSizeCheck(std::string_view target, std::string_view instruction_name,
                                        int64_t bound_or_dimension);

// Of a custom-call with such a target: INVALID_ARGUMENT when operands, results or attributes are not the
// target's, FAILED_PRECONDITION when a library is missing.
absl::Status CheckOwnCustomCall(hlo::Instruction instruction);

}  // namespace hlod
