// Access to a tensor's object without an operation.
#pragma once

#include "client/tensor/value/impl.h"

namespace hlod::lazy {

// Returns the tensor's object. Throws for an undefined tensor, naming the caller's line.
TensorImpl& Defined(const Tensor& tensor, const Caller& caller = Caller{});

}  // namespace hlod::lazy
