// Rewrites bounded dynamic dimensions to static ones, after XLA's DynamicPadder: each array is stored at its
// bounds, together with an s32 scalar per dynamic dimension that holds its size. Elements beyond a size are
// arbitrary; before an instruction would use them, they are replaced by neutral elements (of a reduction), or
// elements are moved.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"

namespace hlod::passes {

// Returns true when an instruction has a dynamic dimension, bounded or not.
bool HasDynamicDimensions(const hlo::Module& module);

// Returns the module with static shapes only. Instructions that involve no dynamic dimension stay unchanged.
// Dynamic results become bytes (hlo::kDynamicResultTarget). UNIMPLEMENTED, with the instruction, its opcode
// and the dimension, for an instruction without a rule, a dynamic parameter of the entry, or a dimension
// without a bound. If sizes do not fit an instruction at run time, the module fails with the evaluator's
// error (custom_calls.h).
absl::StatusOr<std::unique_ptr<hlo::Module>> ExpandDynamic(const hlo::Module& module);

}  // namespace hlod::passes
