// Copies a tensor to another device, under a cause in the ledger.
#pragma once

#include "hlod/runtime/types.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Like Tensor::To, but the ledger records the bytes sent to the device under `cause`.
Tensor CopyTo(const Tensor& tensor, const Device& device, Cause cause, const Caller& caller);

}  // namespace hlod::lazy
