// Prints a plan as text for people.
#pragma once

#include <string>

#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/plan/plan.h"

namespace hlod::engine {

// Returns one line per op: what it runs, and the memory of its operands. a3 is argument 3, r0 result 0, c1
// constant 1, and t+64 byte 64 of the arena.
std::string DumpProgram(const FlatProgram& program, const Assignment& assignment, const PlanMemory& memory,
                        const PlanStats& stats);

}  // namespace hlod::engine
