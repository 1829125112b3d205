// log(exp(x) + exp(y)), and so softplus and log_sigmoid, as JAX writes them out, found again in a loaded
// program.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// Appends the same under its own rule of derivatives to `to` where `add` over `operands`, nodes of `to`, is
// max(x, y) + log1p(exp(-|x - y|)) of floats. By parts its second derivatives at x = y are those of |x| and
// max, 0 where 1/4 is right. nullopt: it is anything else.
std::optional<hlo::NodeId> AppendAsLogAddExp(hlo::Computation& to, const hlo::Instruction& add,
                                             absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
