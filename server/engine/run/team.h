// Teams of threads for parallel loops: which threads have one, and where a team's threads come from.
//
// libgomp makes a team for each thread that runs a parallel loop. It creates the team's threads with the
// first loop, ends some of them with a narrower one, creates them again with a wider one, and ends the
// process when the system refuses a thread. Therefore only a few threads have a team, the threads of a team
// exist before its owner has it, and libgomp gets these whenever it creates a thread (pthread_create, in
// team.cc).
//
// In every loop the threads of a team have the floating-point modes of the thread that began it, such as
// subnormal numbers as zeros (GOMP_parallel, in team.cc).
#pragma once

#include "absl/functional/function_ref.h"

namespace hlod::engine {

// The number of threads that can have a team at once, besides that of RunWithTeam, and the number of teams
// below which a thread that reads streams may get one.
inline constexpr int kTeamsMax = 8, kReadersTeamsMax = 4;

// Returns the requested size of a team: `threads`, or for 0 the value of OMP_NUM_THREADS, else the number of
// cores.
int TeamSize(int threads);

// Returns the size that teams can have: `threads`, for which RunWithTeam's team exists from now on, or 1 if
// the system refuses that number of threads.
int PrepareTeams(int threads);

// Returns the number of threads that a loop of the calling thread may use: `threads` if it has a team of that
// size or gets one now, which it keeps; otherwise 1.
int TeamOfThisThread(int threads);

// Runs `job` on a thread that has a team of `threads`, after the jobs of others, and waits for its end. For
// jobs that cannot run with fewer threads.
void RunWithTeam(int threads, absl::FunctionRef<void()> job);

// While one is in scope, the thread counts as a thread that reads streams.
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
