// Values whose sizes are smaller than their shapes say: a dimension such as <=8 is a bound, and each value of
// the evaluator has its actual sizes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/evaluator/evaluation.h"
#include "common/hlo/module.h"

namespace hlod::evaluator {

// Whether a value of shape `actual` may stand where `stated` is stated: as large, or in a bounded dimension
// at most as large. A value's own shape has no dynamic dimension.
bool FitsWithin(const hlo::Shape& actual, const hlo::Shape& stated);

// Whether the shape of the instruction or of an operand is dynamic.
bool HasDynamicShapes(hlo::Instruction instruction);

// Runs an instruction with an array rule as if it had been written for the actual sizes of its operands: its
// shape is inferred from them, and what its attributes say of a dynamic dimension follows its size.
// INVALID_ARGUMENT when sizes do not suit each other; UNIMPLEMENTED when no rule says which size a dynamic
// dimension of the result has.
absl::StatusOr<hlo::Literal> RunOnActualShapes(Evaluation& evaluation, hlo::Instruction instruction,
                                               std::vector<Value>& operands);

// Custom-calls with a target of custom_calls.h that check a size, and those of them that are well formed.
bool IsSizeCheckTarget(std::string_view target);
bool IsSizeCheck(hlo::Instruction instruction);

// INVALID_ARGUMENT unless instruction `name` may give a dimension of this bound, of which `present` elements
// are there, `size` elements.
absl::Status CheckDimensionSize(std::string_view name, int64_t size, int64_t bound, int64_t present);
// ... unless two dimensions that instruction `name` takes to be of one size are.
absl::Status CheckSameSize(std::string_view name, int64_t size, int64_t other, int64_t dimension);

}  // namespace hlod::evaluator
