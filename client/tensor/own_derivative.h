// Results whose derivative has a rule of its own, by name, in place of those of the instructions that compute
// them: for loops, and where the derivative by parts is not finite. The rules: client/transform/rules/own.cc.
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/tensor/lowering.h"

namespace hlod::lazy {

// What `lower` makes of x. In the graph the results and x become a tuple that names the rule; the derivatives
// of what `lower` appended are not asked for.
std::vector<Op> WithOwnDerivative(Lowering& l, std::string_view rule, std::vector<Op> x,
                                  absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower);
// The same of one result.
template <typename F>
Op OwnDerivative(Lowering& l, std::string_view rule, std::vector<Op> x, F lower) {
  return WithOwnDerivative(l, rule, std::move(x),
                           [&](absl::Span<const Op> o) { return std::vector<Op>{lower(o)}; })[0];
}

// The name of the rule of a tuple; empty: none.
std::string_view OwnRule(const hlo::Computation& computation, NodeId node);
// The elements as a tuple of that rule.
Op TupleWithRule(Lowering& l, std::string_view rule, absl::Span<const Op> elements);

}  // namespace hlod::lazy
