// The settings that hold for this thread.
#pragma once

#include "hlod/tensor/environment.h"

namespace hlod::lazy {

// Cheap: a pointer to this thread's copy, renewed when the environment's settings changed.
const CurrentSettings& Current();

}  // namespace hlod::lazy
