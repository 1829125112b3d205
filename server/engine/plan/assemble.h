// Converts a flat program whose buffers are assigned to the code that runs it.
#pragma once

#include "server/engine/plan/assignment/buffer_assignment.h"
#include "server/engine/plan/lowering/lowering.h"
#include "server/engine/run/code.h"

namespace hlod::engine {

// Returns the code. It points into the steps and constants of `program`, which must outlive it.
Code Assemble(const FlatProgram& program, const Assignment& assignment);

}  // namespace hlod::engine
