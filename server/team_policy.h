// Sets the policy by which the OpenMP team waits for work: briefly, because a daemon shares its machine.
#pragma once

#include "server/config.h"

namespace hlod {

// libgomp's threads spin for milliseconds between two loops unless the environment says otherwise, and when
// other processes are busy each such wait costs a time slice: a multiply of 1M numbers took 20 times longer.
// libgomp reads its environment when it is loaded, before main; therefore the process starts its own program
// again with the variable set. Has no effect when the user set OMP_WAIT_POLICY or GOMP_SPINCOUNT, or when the
// program cannot be started.
void RestartWithTeamPolicy(const Environment& environment, char** argv);

}  // namespace hlod
