// Recognizes the logistic function in a loaded program, as JAX and XLA write it out.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// When `divide` over `operands`, nodes of `to`, is 1 / (1 + exp(-x)) of floats, appends logistic(x) to `to`
// and returns it; else nullopt. Differentiated by parts, it would be 0 times infinity where exp(-x)
// overflows, in f32 from x = -89 down.
std::optional<hlo::NodeId> AppendAsLogistic(hlo::Computation& to, const hlo::Instruction& divide,
                                            absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
