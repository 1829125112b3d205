// Abseil's detection of deadlocks, which its mutexes do at each call unless Abseil was built without
// assertions. Debian's was built with them, and gRPC's locks are Abseil's, too.
#pragma once

#include "absl/synchronization/mutex.h"

namespace hlod {

// Turns the detection off for this process, which takes a tenth of the processor time of a small message. For
// programs and plugins, not for libraries: it is the program that decides. Does nothing in builds with
// assertions.
inline void SkipDeadlockDetection() {
#ifdef NDEBUG
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
}

}  // namespace hlod
