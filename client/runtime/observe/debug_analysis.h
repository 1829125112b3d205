// The analysis of the whole program ($HLOD_DEBUG), and $HLOD_WARNINGS.
#pragma once

#include "absl/status/status.h"

namespace hlod::runtime {

// The first call begins the analysis that $HLOD_DEBUG and $HLOD_DEBUG_FILE request; every call returns its
// error.
absl::Status BeginDebugAnalysis();

// Returns false with HLOD_WARNINGS=0.
bool WarningsAreOn();

}  // namespace hlod::runtime
