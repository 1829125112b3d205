// Teams of threads for parallel loops: who has one, and where its threads come from.
//
// libgomp gives each thread that runs a parallel loop a team of its own. It makes the team's threads with the
// first loop, ends some of them with a narrower one, makes them again with a wider one, and ends the process
// when the system refuses one. So only a few threads have a team, those of a team exist before its owner has
// it, and libgomp gets these whenever it asks for a thread (pthread_create, in team.cc).
#pragma once

#include "absl/functional/function_ref.h"

namespace hlod::engine {

// Threads that have a team at once, beside RunWithTeam's; a thread that reads streams is given one only while
// there are fewer than the second number.
inline constexpr int kTeamsMax = 8, kReadersTeamsMax = 4;

// The size of a team as it is asked for: `threads`, or for 0 what OMP_NUM_THREADS says, else one thread per
// core.
int TeamSize(int threads);

// The size that teams can have: `threads`, for which RunWithTeam's team exists from here on, or 1 when the
// system refuses so many threads.
int PrepareTeams(int threads);

// How many threads a loop of the calling thread may use: `threads` when it has a team of so many, or is given
// one now, which it then keeps; else 1.
int TeamOfThisThread(int threads);

// Runs `job` on a thread that has a team of `threads`, after the jobs of others, and waits for its end. For
// what cannot do with fewer.
void RunWithTeam(int threads, absl::FunctionRef<void()> job);

// While one is in scope, the thread counts as one that reads streams.
class ScopedReader {
 public:
  ScopedReader();
  ~ScopedReader();
  ScopedReader(const ScopedReader&) = delete;
  ScopedReader& operator=(const ScopedReader&) = delete;

 private:
  const bool before_;
};

}  // namespace hlod::engine
