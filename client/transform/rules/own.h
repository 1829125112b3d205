// Derivatives of values that have their own rule, by name (client/tensor/autograd/own_derivative.h). The
// operands of a rule are the results, followed by the arrays that they are a function of. Each file own_*.cc
// has the rules of one kind of function.
#pragma once

#include <optional>

#include "absl/types/span.h"
#include "client/tensor/ops/elementwise/elementwise.h"
#include "client/transform/autodiff/rules.h"

namespace hlod::lazy {

struct OwnRow {
  std::string_view name;
  TangentRule rule;
  // The number of operands after the results that the rule reads as values: derivatives that the tuple
  // carries, for instance.
  size_t values = 0;
};
absl::Span<const OwnRow> ElementwiseOwnRules();
absl::Span<const OwnRow> GammaOwnRules();
// Returns the rules of functions of JAX (client/transform/foreign/special.h).
absl::Span<const OwnRow> SpecialOwnRules();
// Returns the rules of CHLO's functions: "chlo.lgamma".
absl::Span<const OwnRow> ChloOwnRules();

// Returns how many leading operands of a node its own rule reads as values, so that no tangent passes through
// them: its results, and those that the rule's row counts. 0 when the node has no such rule.
size_t ReadAsValues(const hlo::Computation& computation, NodeId node);

// The rule of a function of one operand, whose derivative is an expression of the result y and the operand x.
template <Op (*slope)(Lowering& l, Op y, Op x)>
Tangents ByItsSlope(const TangentArgs& c) {
  return {c.t[1] * slope(c.l, c.x[0], c.x[1])};
}
// Returns zero where `pred` is true, otherwise x.
inline Op ZeroWhere(Lowering& l, Op pred, Op x) { return SelectOps(l, pred, N(l, x, 0), x); }

Tangents OwnLu(const TangentArgs& c);
Tangents OwnQr(const TangentArgs& c);
Tangents OwnSvd(const TangentArgs& c);
Tangents OwnEigh(const TangentArgs& c);
Tangents OwnPinv(const TangentArgs& c);
Tangents OwnReflectedQr(const TangentArgs& c);  // The results are Q, and R with Q's reflections below it.
Tangents OwnDeterminant(const TangentArgs& c);
Tangents OwnCofactors(const TangentArgs& c);
Tangents OwnDet(const TangentArgs& c);      // In loaded programs.
Tangents OwnSlogdet(const TangentArgs& c);  // In loaded programs.
// If `node` is the last instruction of exp(-|x|) I0(x) in the form that JAX writes, appends the same value
// with a rule to `to` and returns it; nullopt otherwise.
std::optional<NodeId> AppendBesselI0e(hlo::Computation& to, NodeId node);

}  // namespace hlod::lazy
