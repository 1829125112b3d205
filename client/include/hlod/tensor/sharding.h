// How tensors are divided among the chips of a larger device. Programs here run on one device: the
// annotation travels to the daemon with the program's parameters, and `hloctl check` divides by it.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// torch_xla.distributed.spmd.mark_sharding, in HLO's spelling: "{devices=[2,1]<=[2]}", "{replicated}". It
// stays with the tensor through updates in place, and goes to the result that takes over its memory.
Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller = Caller::Here());

}  // namespace hlod
