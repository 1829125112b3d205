// Copying a tensor to another device, with the cause that the ledger has it under.
#pragma once

#include "hlod/runtime/types.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Tensor::To; bytes that go to the device are in the ledger under `cause`.
Tensor CopyTo(const Tensor& tensor, const Device& device, Cause cause, const Caller& caller);

}  // namespace hlod::lazy
