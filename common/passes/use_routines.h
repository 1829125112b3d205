// Calls that are LAPACK's routines, replaced by custom calls of these.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod {

// Without LAPACK they stay what they are, and are inlined with other calls. Where nothing needs the vectors
// of a decomposition they are not computed.
bool HasRoutines(const hlo::Module& module);
std::unique_ptr<hlo::Module> UseRoutines(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod
