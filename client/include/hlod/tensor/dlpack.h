// DLPack: tensors of the host exchanged with NumPy, PyTorch and JAX without a copy.
#pragma once

#include "hlod/tensor/tensor.h"

struct DLManagedTensor;  // Of <dlpack/dlpack.h>, which a program that calls these includes.

namespace hlod {

// The tensor's memory, described with its strides: a view is exported as it lies. The consumer calls the
// result's deleter once; until then the memory lives. It is shared with the tensor: what the consumer writes
// is seen by the tensor until the tensor is updated in place here, which gives it new memory. A tensor of a
// device is refused (copy it with ToHost()), as is a placeholder, with its error.
DLManagedTensor* ToDlpack(const Tensor& tensor, Caller caller = Caller::Here());

// A tensor of the host over the producer's memory. Takes `managed` over, and calls its deleter when nothing
// refers to the memory any more; when it throws, `managed` stays the caller's. Refuses memory of other
// devices, negative strides, and types that HLO does not have. Memory that is not aligned to its type is
// copied.
Tensor FromDlpack(DLManagedTensor* managed, Caller caller = Caller::Here());

}  // namespace hlod
