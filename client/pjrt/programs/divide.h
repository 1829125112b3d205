// Programs of several partitions, by XLA's partitioner.
#pragma once

#include <string_view>

#include "client/pjrt/programs/read_program.h"

namespace hlod::pjrt {

// Divides a program whose arrays have shardings among `partitions` partitions, and states the sharding of
// each argument and result. Returns false, with the program as it was, when that is not wanted or nothing
// can: there is no jaxlib, XLA refuses the program, it is divided by hand (jax.shard_map), or it calls the
// host, which the partitioner would have it do once per partition. `code` is the program as it came.
bool DivideByXla(ReadProgram& program, std::string_view code, int partitions);

}  // namespace hlod::pjrt
