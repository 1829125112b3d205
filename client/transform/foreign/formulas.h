// Recognizes formulas of a loaded program, in the form that JAX writes, whose term-by-term derivative is
// wrong or has no second derivative at a tie or a zero: log(exp(x) + exp(y)) and what is made of it
// (softplus, log_sigmoid), hypot, sinc, xlogy, gammaincc, gamma variates, log_ndtr, betainc, and the sine and
// cosine of complex numbers.
#pragma once

#include <optional>
#include <string_view>

#include "common/hlo/module.h"

namespace hlod::lazy {

// When `node` of `to` is the last instruction of such a formula, appends the same value with a derivative
// rule and returns it; otherwise returns nullopt.
std::optional<hlo::NodeId> AppendFormula(hlo::Computation& to, hlo::NodeId node);

// When a function of that name, whose result is `root`, is JAX's relu or relu6, appends the same value with
// JAX's derivative, which is 0 at the kinks, and returns it; otherwise returns nullopt. max(x, 0) elsewhere
// shares its derivative at 0.
std::optional<hlo::NodeId> AppendRelu(hlo::Computation& to, hlo::NodeId root, std::string_view name);

}  // namespace hlod::lazy
