// Marks values whose derivative is taken by a named rule instead of the rules of the instructions that
// compute them. These are loops, and formulas whose term-by-term derivative is not finite or loses digits.
//
// In the computation, the results and the operands become one tuple whose frontend attribute names the rule,
// and the formula reads the operands through copies that stop derivatives. The marks therefore run like any
// other instructions, and only differentiation (client/transform/rules/own.cc) reads them.
#pragma once

#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/hlo/builder.h"

namespace hlod::hlo {

// Returns a copy of x through which no derivative passes.
Op StopGradient(Op x);
bool IsStopped(const Computation& computation, NodeId node);
// Marks a value as one that derivatives do not pass through.
void Stop(Op x);

// Appends the instructions that `lower` makes of the operands and returns their results under the rule.
std::vector<Op> WithOwnDerivative(std::string_view rule, absl::Span<const Op> operands,
                                  absl::FunctionRef<std::vector<Op>(absl::Span<const Op>)> lower);
// Does the same for a single result.
template <typename F>
Op OwnDerivative(std::string_view rule, absl::Span<const Op> operands, F lower) {
  return WithOwnDerivative(rule, operands,
                           [&](absl::Span<const Op> x) { return std::vector<Op>{lower(x)}; })[0];
}

// Returns the name of a tuple's rule, or "" when it has none.
std::string_view OwnRule(const Computation& computation, NodeId node);
// Returns the number of leading elements of the tuple that are results; the rest are operands.
size_t OwnResults(const Computation& computation, NodeId node);
// Returns the elements, the first `results` of which are results, as a tuple with that rule.
Op TupleWithRule(std::string_view rule, absl::Span<const Op> elements, size_t results);

}  // namespace hlod::hlo
