// Recognizes log(exp(x) + exp(y)), and so softplus and log_sigmoid, in a loaded program, as JAX writes it
// out.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// When `add` over `operands`, nodes of `to`, is max(x, y) + log1p(exp(-|x - y|)) of floats, appends the same
// value under a derivative rule of its own to `to` and returns it; else nullopt. Differentiated by parts, its
// second derivatives at x = y would be those of |x| and max: 0, where 1/4 is right.
std::optional<hlo::NodeId> AppendAsLogAddExp(hlo::Computation& to, const hlo::Instruction& add,
                                             absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
