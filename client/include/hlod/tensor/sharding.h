// Annotations for dividing tensors among the chips of a larger device. Programs here run on one device: the
// annotation travels to the daemon with the program's parameters, and `hloctl check` divides by it.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Annotates a tensor with a sharding in HLO's spelling: "{devices=[2,1]<=[2]}", "{replicated}"; returns the
// tensor. The annotation stays through updates in place, and passes to a result that takes over the tensor's
// memory. torch_xla.distributed.spmd.mark_sharding.
Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller = Caller::Here());

}  // namespace hlod
