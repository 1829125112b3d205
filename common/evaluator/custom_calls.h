// hlod's own custom-call targets, which every device implements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/module.h"

namespace hlod {

// Returns true when the evaluator has a rule for the target (for some operands).
bool IsOwnCustomCallTarget(std::string_view target);
std::vector<std::string> OwnCustomCallTargets();

// Returns true when a custom-call is a hint (of sharding, layout or placement) that returns its operand.
bool IsIdentityCustomCall(hlo::Instruction instruction);

// Custom-calls over two s32 scalars that return the first one, or fail with the error of an instruction on
// dynamic dimensions. A program that was rewritten to static shapes contains them. MakeSizeCheck makes their
// backend_config. The operands of the first are a size and the number of existing elements; of the second, two
// sizes.
inline constexpr std::string_view kCheckDimensionSizeTarget = "hlod.CheckDimensionSize";
inline constexpr std::string_view kCheckSameSizeTarget = "hlod.CheckSameSize";
hlo::CustomCallAttributes MakeSizeCheck(std::string_view target, std::string_view instruction_name,
                                        int64_t bound_or_dimension);

// Checks a custom-call with such a target: INVALID_ARGUMENT if operands, results or attributes do not fit the
// target, FAILED_PRECONDITION if a library is missing.
absl::Status CheckOwnCustomCall(hlo::Instruction instruction);

}  // namespace hlod
