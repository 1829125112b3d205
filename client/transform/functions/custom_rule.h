// Calls with a custom derivative, whose notes name the rule.
#pragma once

#include <optional>

#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {

// The rule of a call of f. The call's operands are the arguments of f, the tensors that f captured, and the
// tensors that the functions of the rule captured.
struct CustomRule {
  bool is_vjp = true;
  size_t arguments = 0;  // The number of operands that are f's arguments.
  size_t residuals = 0;  // The number of residuals of a vjp.
  bool widened = false;  // True for a vjp whose call runs `forward` and so also returns the residuals.
  // Takes all operands; for a jvp, also a tangent per argument. Returns the results, followed by the
  // residuals (vjp) or the tangents (jvp).
  hlo::ComputationId forward = 0;
  // For a vjp; takes the residuals, the cotangents, and all operands after the arguments.
  hlo::ComputationId backward = 0;
};
// Returns the rule of a call; nullopt when it has none.
std::optional<CustomRule> CustomRuleOf(const hlo::Computation& computation, NodeId node);
void SetCustomRule(hlo::Notes& notes, const CustomRule& rule);

Tangents CustomRuleJvp(const JvpArgs& c, const CustomRule& rule);
void CustomRuleVjp(const VjpArgs& c, const CustomRule& rule);

}  // namespace hlod::lazy
