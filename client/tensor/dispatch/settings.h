// The settings in force for this thread.
#pragma once

#include "hlod/tensor/environment.h"

namespace hlod::lazy {

// Returns this thread's copy, which is renewed when the environment's settings have changed. Cheap.
const CurrentSettings& Current();

}  // namespace hlod::lazy
