// Sets the variable, and starts the program again with it.
#include "server/team_policy.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace hlod {
namespace {

// Iterations of the waiting loop before a thread sleeps, of about 50 ns each: long enough for the next step
// of the same program to begin, and too short to lose a time slice (tests/bench/engine/busy.cc).
constexpr char kSpinCount[] = "100";

}  // namespace

void RestartWithTeamPolicy(const Environment& environment, char** argv) {
  if (environment.team_policy) return;
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length <= 0 || setenv("GOMP_SPINCOUNT", kSpinCount, 0) != 0) return;
  path[length] = '\0';
  execv(path, argv);  // Returns only if it fails: then the team spins, and everything else works.
}

}  // namespace hlod
