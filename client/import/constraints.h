// What StableHLO's verifier refuses, so that a program it would refuse is not given a meaning here.
#pragma once

#include "client/import/conversion.h"

namespace hlod::stablehlo {

// Fails the conversion, with the rule and the value, where the operation breaks a rule of its own that HLO
// has not.
void CheckConstraints(Conversion& c);

}  // namespace hlod::stablehlo
