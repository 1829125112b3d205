// The sharding of tensors that belong to another, such as an optimizer's state to a parameter.
#pragma once

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Divides a tensor that has no sharding of its own as `like`, if that is divided and of the same dimensions.
// A tensor that is yet to be computed is then never whole on a device. Otherwise does nothing.
void ShardAs(Tensor& tensor, const Tensor& like, const Caller& caller);

}  // namespace hlod::lazy
