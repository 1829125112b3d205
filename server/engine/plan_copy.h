// A copy of a module that a plan may keep.
#pragma once

#include <memory>

#include "common/hlo/module.h"

namespace hlod::engine {

// The same computations, signature, aliases and notes over the same Tables, which live as long as the copy.
std::unique_ptr<hlo::Module> CopyModule(const hlo::Module& module);

}  // namespace hlod::engine
