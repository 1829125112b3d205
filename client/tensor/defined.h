// The tensor's own part, where it is asked for without an operation.
#pragma once

#include "client/tensor/impl.h"

namespace hlod::lazy {

// Throws of an undefined tensor.
TensorImpl& Defined(const Tensor& tensor);

}  // namespace hlod::lazy
