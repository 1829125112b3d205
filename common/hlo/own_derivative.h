// Values whose derivative is taken by a rule of its own, known by name, in place of the rules of the
// instructions that compute them: of loops, and of formulas whose derivative by parts is not finite or loses
// digits.
//
// In the computation the results and the operands become one tuple, which names the rule, and the formula
// reads the operands through copies that pass no derivative on. So the marks run like any other instructions,
// and only differentiation (client/transform/rules/own.cc) reads them.
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/hlo/builder.h"

namespace hlod::hlo {

// A copy of x through which no derivative passes.
Op StopGradient(Op x);
bool IsStopped(const Computation& computation, NodeId node);
// Lets no derivative pass through a value.
void Stop(Op x);

// Appends what `lower` makes of the operands and returns it under the rule.
std::vector<Op> WithOwnDerivative(std::string_view rule, absl::Span<const Op> operands,
                                  absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower);
// As above, of one result.
template <typename F>
Op OwnDerivative(std::string_view rule, absl::Span<const Op> operands, F lower) {
  return WithOwnDerivative(rule, operands,
                           [&](absl::Span<const Op> x) { return std::vector<Op>{lower(x)}; })[0];
}

// The name of the rule of a tuple; empty: it has none.
std::string_view OwnRule(const Computation& computation, NodeId node);
// How many of its elements, the first ones, are results.
size_t OwnResults(const Computation& computation, NodeId node);
// The elements, of which the first `results` are results, as a tuple of that rule.
Op TupleWithRule(std::string_view rule, absl::Span<const Op> elements, size_t results);

}  // namespace hlod::hlo
