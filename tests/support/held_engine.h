// Holds a test program that contains the engine to the same environment as a daemon that the test starts: to
// $HLOD_CPU_FEATURES and $HLOD_ASSEMBLE (before main) and, where the test uses EngineThreads, to $OMP_NUM_THREADS.
#pragma once

namespace hlod::testing {

// Returns the number of threads that a test without other needs compiles for: $OMP_NUM_THREADS, else 2, on
// any machine.
int EngineThreads();

}  // namespace hlod::testing
