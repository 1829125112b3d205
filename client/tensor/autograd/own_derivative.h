// Results with their own derivative rule, known by name, which replaces the rules of the instructions that
// compute them: for loops, and when the derivative of the formula is not finite. The rules are in
// client/transform/rules/own.cc.
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/dispatch/lowering.h"
#include "common/hlo/own_derivative.h"

namespace hlod::lazy {

using hlo::OwnResults;
using hlo::OwnRule;
using hlo::TupleWithRule;

// Appends the results of `lower` for x, and returns them with the rule. The instructions that `lower`
// appended are not differentiated.
inline std::vector<Op> WithOwnDerivative(Lowering&, std::string_view rule, const std::vector<Op>& x,
                                         absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower) {
  return hlo::WithOwnDerivative(rule, x, lower);
}
// Does the same for one result.
template <typename F>
Op OwnDerivative(Lowering&, std::string_view rule, const std::vector<Op>& x, F lower) {
  return hlo::OwnDerivative(rule, x, lower);
}

}  // namespace hlod::lazy
