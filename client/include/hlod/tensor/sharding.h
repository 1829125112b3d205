// Annotations that divide tensors among the chips of a larger machine. Programs here run on one device: the
// annotation is sent to the daemon with the program's parameters, and `hloctl check` uses it.
#pragma once

#include <string>

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Annotates a tensor with a sharding in HLO's spelling: "{devices=[2,1]<=[2]}", "{replicated}"; returns the
// tensor. Updates in place keep the annotation, and a result that takes over the tensor's memory inherits it.
// torch_xla.distributed.spmd.mark_sharding.
Tensor& MarkSharding(Tensor& tensor, const std::string& sharding, Caller caller = Caller::Here());

}  // namespace hlod
