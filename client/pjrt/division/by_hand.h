// Recognises programs that are divided by hand: by jax.shard_map or jax.pmap over every axis of a mesh.
#pragma once

#include "client/pjrt/compile/read_program.h"

namespace hlod::pjrt {

// Returns true when the program computes only in manual computations, each of which has all axes of the mesh
// and takes arguments that are divided as it requires. A partitioner would have nothing to do.
bool IsDividedByHand(const ReadProgram& program);

}  // namespace hlod::pjrt
