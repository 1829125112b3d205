// Replaces calls that name a LAPACK routine by custom calls of it.
#pragma once

#include <memory>

#include "common/hlo/module.h"
#include "common/passes/passes.h"

namespace hlod::passes {

// Without LAPACK these calls stay, and are inlined like other calls. The vectors of a decomposition are
// computed only if an instruction reads them.
bool HasRoutines(const hlo::Module& module);
std::unique_ptr<hlo::Module> UseRoutines(const hlo::Module& module, PassWatch* watch = nullptr);

}  // namespace hlod::passes
