// A plan as text, for people.
#pragma once

#include <string>

#include "server/engine/plan/buffer_assignment.h"
#include "server/engine/plan/lowering.h"
#include "server/engine/plan/plan.h"

namespace hlod::engine {

// One line an op: what it runs and where its operands lie. a3: argument 3, r0: result 0, c1: constant 1,
// t+64: the arena at byte 64.
std::string DumpProgram(const FlatProgram& program, const Assignment& assignment, const PlanMemory& memory,
                        const PlanStats& stats);

}  // namespace hlod::engine
