// Recognises programs that their writer has divided: jax.shard_map and jax.pmap over every axis of a mesh.
#pragma once

#include "client/pjrt/compile/read_program.h"

namespace hlod::pjrt {

// Returns true when the program does nothing outside of manual computations, each of which has all axes of
// the mesh and takes arguments that are divided as it wants them. A partitioner would have nothing to do.
bool IsDividedByHand(const ReadProgram& program);

}  // namespace hlod::pjrt
