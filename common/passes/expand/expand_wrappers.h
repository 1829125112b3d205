// Replaces instructions that only pass values on when there is a single device.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod::passes {

// copy-start and async-start become the instructions that they start, which then run at once; collectives of
// the device alone become their operands; -done instructions return these results. A ragged-dot over a batch
// dimension becomes a dot.
bool HasWrappers(const hlo::Module& module);
std::unique_ptr<hlo::Module> ExpandWrappers(const hlo::Module& module, PassWatch* watch);

}  // namespace hlod::passes
