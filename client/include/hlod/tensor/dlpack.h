// DLPack: exchanges host tensors with NumPy, PyTorch and JAX without a copy.
#pragma once

#include "hlod/tensor/tensor.h"

// Defined in <dlpack/dlpack.h>; a program that calls these functions includes that header.
struct DLManagedTensor;

namespace hlod {

// Exports the tensor's memory, with its strides: a view is not copied. The consumer must call the result's
// deleter once; the memory lives until then. The tensor sees the consumer's writes, until an update in place
// here gives the tensor new memory. Throws for a device tensor (copy it with ToHost()) and for a placeholder.
DLManagedTensor* ToDlpack(const Tensor& tensor, Caller caller = Caller::Here());

// Returns a tensor of the host over the producer's memory. Takes ownership of `managed`, and calls its
// deleter when no tensor refers to the memory any more. When it throws, the caller still owns `managed`.
// Throws for memory of other devices, negative strides, and types that HLO does not have. Memory that is not
// aligned to its type is copied.
Tensor FromDlpack(DLManagedTensor* managed, Caller caller = Caller::Here());

}  // namespace hlod
