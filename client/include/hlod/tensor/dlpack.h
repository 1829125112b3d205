// DLPack: tensors of the host exchanged with NumPy, PyTorch and JAX without a copy.
#pragma once

#include "hlod/tensor/tensor.h"

struct DLManagedTensor;  // Defined in <dlpack/dlpack.h>, which a program that calls these functions includes.

namespace hlod {

// Exports the tensor's memory, with its strides: a view is not copied. The consumer must call the result's
// deleter once; the memory lives until then. It is shared with the tensor: the tensor sees the consumer's
// writes until the tensor is updated in place here, which gives it new memory. Throws for a tensor of a
// device (copy it with ToHost()) and for a placeholder.
DLManagedTensor* ToDlpack(const Tensor& tensor, Caller caller = Caller::Here());

// Returns a tensor of the host over the producer's memory. Takes ownership of `managed`, and calls its
// deleter when the memory is not referred to any more; when it throws, `managed` stays the caller's. Throws
// for memory of other devices, negative strides, and types that HLO does not have. Memory that is not aligned
// to its type is copied.
Tensor FromDlpack(DLManagedTensor* managed, Caller caller = Caller::Here());

}  // namespace hlod
