// Rewrites bounded dynamic dimensions to static ones, after XLA's DynamicPadder: each array is stored in an
// array of the size of its bounds, with an s32 scalar beside it for the size of each dynamic dimension. The
// elements beyond a size are arbitrary; where an instruction would read them, they are replaced by neutral
// elements (of a reduction), or elements are moved.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod {

// Returns true when an instruction has a dynamic dimension, bounded or not.
bool HasDynamicDimensions(const hlo::Module& module);

// Returns the module with static shapes only. Instructions that involve no dynamic dimension stay unchanged.
// Dynamic results become bytes (hlo::kDynamicResultTarget). UNIMPLEMENTED, with the instruction, its opcode
// and the dimension, when there are no rules for it; likewise for a dynamic parameter of the entry, or a
// dimension without a bound. When sizes do not fit an instruction at run time, the module ends with the
// evaluator's error (custom_calls.h).
absl::StatusOr<std::unique_ptr<hlo::Module>> ExpandDynamic(const hlo::Module& module);

}  // namespace hlod
