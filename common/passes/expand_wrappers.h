// Instructions that on one device only hand values on.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod {

// copy-start and async-start become what they start, done at once; collectives, in which nobody but the
// device itself takes part, become their operands; their ends take the results out. A ragged-dot over a batch
// dimension becomes a dot.
bool HasWrappers(const hlo::Module& module);
std::unique_ptr<hlo::Module> ExpandWrappers(const hlo::Module& module, PassWatch* watch);

}  // namespace hlod
