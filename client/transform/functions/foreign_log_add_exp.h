// Recognizes log(exp(x) + exp(y)), and therefore softplus and log_sigmoid, in a loaded program, in the form
// that JAX writes.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::lazy {

// When `add` over `operands`, nodes of `to`, is max(x, y) + log1p(exp(-|x - y|)) of floats, appends the same
// value with its own derivative rule to `to` and returns it; otherwise returns nullopt. The rule is needed
// because the derivatives of max and |x - y| would make the second derivatives at x = y 0 instead of 1/4.
std::optional<hlo::NodeId> AppendAsLogAddExp(hlo::Computation& to, const hlo::Instruction& add,
                                             absl::Span<const hlo::NodeId> operands);

}  // namespace hlod::lazy
