// Results whose derivative has a rule of its own, by name, that replaces those of the instructions that
// compute them: for loops, and where the derivative by parts is not finite. The rules are in
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

// Appends what `lower` makes of x and returns it under the rule. The derivatives of the instructions that
// `lower` appended are never needed.
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
