// Recognizes gamma variates and distribution functions of a loaded program, in the form that JAX writes. When
// the instruction is the last one of such a function, appends the same value with a derivative rule and
// returns it; otherwise returns nullopt.
#pragma once

#include <optional>

#include "common/hlo/module.h"

namespace hlod::lazy {

// jax.random.gamma and jax.random.loggamma, which the beta, Dirichlet, chi-squared, t and F distributions
// use: the derivative is that of the quantile by the concentration.
std::optional<hlo::NodeId> AppendGammaVariate(hlo::Computation& to, const hlo::Instruction& multiply);
std::optional<hlo::NodeId> AppendLogGammaVariate(hlo::Computation& to, const hlo::Instruction& add);
// The logarithm of the normal distribution function.
std::optional<hlo::NodeId> AppendLogNdtr(hlo::Computation& to, const hlo::Instruction& select);
// The regularised incomplete beta function.
std::optional<hlo::NodeId> AppendBetainc(hlo::Computation& to, const hlo::Instruction& select);
// The regularised incomplete gamma functions, gammainc and gammaincc.
std::optional<hlo::NodeId> AppendIncompleteGamma(hlo::Computation& to, const hlo::Instruction& select);

}  // namespace hlod::lazy
