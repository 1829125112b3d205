// Bounded dynamic dimensions rewritten to static ones, after XLA's DynamicPadder: each array lies in one of
// the size of its bounds, with an s32 scalar beside it for the size of each dynamic dimension. What lies
// beyond a size is anything; where an instruction would see it, it is replaced by what changes nothing (the
// neutral element of a reduction), or elements move.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod {

// Whether an instruction has a dynamic dimension, bounded or not.
bool HasDynamicDimensions(const hlo::Module& module);

// The module with static shapes only. Instructions that touch no dynamic dimension stay as they are.
// Dynamic results become bytes (hlo::kDynamicResultTarget).
// UNIMPLEMENTED names the instruction, its opcode and the dimension that there is no rule for, a dynamic
// parameter of the entry, or a dimension without a bound. Where sizes do not suit an instruction at
// run time, the module ends with the evaluator's error (custom_calls.h).
absl::StatusOr<std::unique_ptr<hlo::Module>> ExpandDynamic(const hlo::Module& module);

}  // namespace hlod
