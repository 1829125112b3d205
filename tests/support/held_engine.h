// A test program with the engine in it is held as a daemon is that the same test starts: to
// $HLOD_CPU_FEATURES (before main) and, by what the test asks for here, to $OMP_NUM_THREADS.
#pragma once

namespace hlod::testing {

// The threads that a test without an opinion compiles for: $OMP_NUM_THREADS, else 2, whatever the machine
// has.
int EngineThreads();

}  // namespace hlod::testing
