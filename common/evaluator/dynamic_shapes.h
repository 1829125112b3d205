// Values that are smaller than their shapes: a dimension such as <=8 is a bound, and a value in the evaluator
// has its actual sizes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/evaluator/evaluation.h"
#include "common/hlo/module.h"

namespace hlod::evaluator {

// Returns true when a value of shape `actual` fits the shape `stated`: sizes are equal, or at most the bound
// in bounded dimensions. A value's own shape has no dynamic dimensions.
bool FitsWithin(const hlo::Shape& actual, const hlo::Shape& stated);

// Returns true when the shape of the instruction or of an operand is dynamic.
bool HasDynamicShapes(hlo::Instruction instruction);

// Runs an instruction with an array rule as if it were written for the actual sizes of its operands: its
// shape is inferred from them, and its attributes are adapted to them. INVALID_ARGUMENT when sizes do not fit
// each other; UNIMPLEMENTED when no rule determines the size of a dynamic dimension of the result.
absl::StatusOr<hlo::Literal> RunOnActualShapes(Evaluation& evaluation, hlo::Instruction instruction,
                                               std::vector<Value>& operands);

// Return true for custom-calls with one of the targets in custom_calls.h that check a size; the second
// function also requires that they are well-formed.
bool IsSizeCheckTarget(std::string_view target);
bool IsSizeCheck(hlo::Instruction instruction);

// Returns INVALID_ARGUMENT unless instruction `name` may set the size of a dimension, with `bound` and
// `present` existing elements, to `size`.
absl::Status CheckDimensionSize(std::string_view name, int64_t size, int64_t bound, int64_t present);
// Returns INVALID_ARGUMENT unless two dimensions are equal that must be equal in instruction `name`.
absl::Status CheckSameSize(std::string_view name, int64_t size, int64_t other, int64_t dimension);

}  // namespace hlod::evaluator
