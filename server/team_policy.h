// How the OpenMP team waits for work: short, since a daemon shares its machine.
#pragma once

#include "server/config.h"

namespace hlod {

// libgomp's threads spin for milliseconds between two loops unless its environment says otherwise, and beside
// busy neighbours each such wait costs a scheduler's slice: a multiply of 1M numbers took 20 times as long.
// libgomp reads its environment when it is loaded, before main; so the process starts its own program once
// more, with the variable set. Does nothing when the user set OMP_WAIT_POLICY or GOMP_SPINCOUNT, or when the
// program cannot be started.
void RestartWithTeamPolicy(const Environment& environment, char** argv);

}  // namespace hlod
