// Recognizes the logistic function in a loaded program, in the form that JAX and XLA write.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// When `divide` over `operands`, nodes of `to`, is 1 / (1 + exp(-x)) of floats, appends logistic(x) to `to`
// and returns it; otherwise returns nullopt. The derivative of the formula would be 0 times infinity when
// exp(-x) overflows, in f32 for x below -89.
std::optional<hlo::NodeId> AppendAsLogistic(hlo::Computation& to, const hlo::Instruction& divide,
                                            absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
