// Checks of StableHLO's verifier, so that a program that StableHLO refuses is refused here, too.
#pragma once

#include "client/import/convert/conversion.h"

namespace hlod::stablehlo {

// Fails the conversion, naming the rule and the value, when the operation breaks a rule of StableHLO that HLO
// does not have.
void CheckConstraints(Conversion& c);

}  // namespace hlod::stablehlo
