// Calls with derivatives of their own: what a call's notes say of its rule.
#pragma once

#include <optional>

#include "client/transform/autodiff/control_rules.h"

namespace hlod::lazy {

// The operands of such a call: the arguments, then what f, then what the parts of the rule take beside them.
struct CustomRule {
  bool is_vjp = true;
  size_t arguments = 0;             // How many of the operands are f's arguments.
  size_t residuals = 0;             // Of a vjp.
  bool widened = false;             // A vjp whose call gives the residuals after the results.
  hlo::ComputationId forward = 0;   // Takes all operands; of a jvp then a tangent for each argument.
  hlo::ComputationId backward = 0;  // Of a vjp: residuals, cotangents, then all operands after the arguments.
};
std::optional<CustomRule> CustomRuleOf(const hlo::Computation& computation, NodeId node);
void SetCustomRule(hlo::Notes& notes, const CustomRule& rule);

Tangents PushCustom(const PushCase& c, const CustomRule& rule);
void PullCustom(const PullCase& c, const CustomRule& rule);

}  // namespace hlod::lazy
