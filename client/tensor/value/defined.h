// The tensor's own part, where it is asked for without an operation.
#pragma once

#include "client/tensor/value/impl.h"

namespace hlod::lazy {

// Throws of an undefined tensor, naming the caller's line.
TensorImpl& Defined(const Tensor& tensor, const Caller& caller = Caller{});

}  // namespace hlod::lazy
