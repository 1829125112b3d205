// Recognizes formulas of a loaded program, in the form that JAX writes, whose term-by-term derivative is
// wrong or has no second derivative at a tie or a zero: log(exp(x) + exp(y)) and what is made of it
// (softplus, log_sigmoid), hypot, sinc, xlogy, gammaincc, gamma variates, log_ndtr, betainc, the sine and
// cosine of complex numbers, and the special functions of special.h.
#pragma once

#include <optional>

#include "common/hlo/module.h"

namespace hlod::lazy {

// When `node` of `to` is the last instruction of such a formula, appends the same value with a derivative
// rule and returns it; otherwise returns nullopt.
std::optional<hlo::NodeId> AppendFormula(hlo::Computation& to, hlo::NodeId node);

}  // namespace hlod::lazy
