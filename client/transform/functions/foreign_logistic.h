// The logistic function as JAX and XLA write it out, found again in a loaded program.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// Appends logistic(x) to `to` where `divide` over `operands`, nodes of `to`, is 1 / (1 + exp(-x)) of floats.
// Its derivative by parts is 0 times infinity where exp(-x) overflows, in f32 from x = -89 down. nullopt: it
// is anything else.
std::optional<hlo::NodeId> AppendAsLogistic(hlo::Computation& to, const hlo::Instruction& divide,
                                            absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
