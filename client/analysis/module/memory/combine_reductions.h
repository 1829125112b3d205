// The all-reduces that XLA's CPU backend makes one.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns the module with all-reduces of one kind, type and group joined to one of several arrays, as XLA's
// AllReduceCombiner joins those that do not depend on one another, up to 256: all operands and all results
// are then there at once.
std::unique_ptr<hlo::Module> WithCombinedReductions(const hlo::Module& module);

}  // namespace hlod::analysis
