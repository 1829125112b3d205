// Recognizes special functions of a loaded program, in the form that JAX writes, whose derivative in JAX is
// not that of the instructions: the mantissa of frexp (and ldexp, which is made of it), logit, poch, dawsn,
// erfcx, fresnel, owens_t; and, by the names of their functions and what is in these, relu, relu6, sici,
// expi, hyp1f1, hyp2f1, log1mexp, det, slogdet and pinv. The derivative of the instructions would be 0 where
// a value is multiplied by sign(x), chosen as a constant, or put together from bits.
#pragma once

#include <optional>
#include <string_view>

#include "common/hlo/module.h"

namespace hlod::lazy {

// When the instruction is the last instruction of such a function, appends the same value with a
// derivative rule and returns it; otherwise returns nullopt.
std::optional<hlo::NodeId> AppendMantissa(hlo::Computation& to, const hlo::Instruction& select);
std::optional<hlo::NodeId> AppendLogit(hlo::Computation& to, const hlo::Instruction& log);
std::optional<hlo::NodeId> AppendPoch(hlo::Computation& to, const hlo::Instruction& select);
std::optional<hlo::NodeId> AppendDawson(hlo::Computation& to, const hlo::Instruction& multiply);
std::optional<hlo::NodeId> AppendErfcx(hlo::Computation& to, const hlo::Instruction& multiply);
std::optional<hlo::NodeId> AppendFresnel(hlo::Computation& to, const hlo::Instruction& select);
std::optional<hlo::NodeId> AppendOwensT(hlo::Computation& to, const hlo::Instruction& select);

// The same for a whole function that is hyp1f1 or hyp2f1, which has that number of `parameters`.
std::optional<hlo::NodeId> AppendHypergeometric(hlo::Computation& to, hlo::NodeId root, size_t parameters);

// The same for a whole function of that name, whose result is `root`. `is_users` is true when the program
// says that the function was written outside of JAX.
std::optional<hlo::NodeId> AppendNamed(hlo::Computation& to, hlo::NodeId root, std::string_view name,
                                       bool is_users);

}  // namespace hlod::lazy
