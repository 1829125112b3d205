// From a flat program with its buffers assigned to the code that runs it.
#pragma once

#include "server/engine/plan/buffer_assignment.h"
#include "server/engine/plan/lowering.h"
#include "server/engine/run/code.h"

namespace hlod::engine {

// The code points into the program's steps and constants.
Code Assemble(const FlatProgram& program, const Assignment& assignment);

}  // namespace hlod::engine
