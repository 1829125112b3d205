// Replaces calls that are LAPACK routines by custom calls of these.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod {

// Without LAPACK they stay calls, and are inlined like other calls. The vectors of a decomposition are not
// computed when no instruction reads them.
bool HasRoutines(const hlo::Module& module);
std::unique_ptr<hlo::Module> UseRoutines(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod
