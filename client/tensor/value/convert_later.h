// Host tensors converted to another type, whose bytes are computed when they are first read.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Returns x in the type `type`, converted when its bytes are first read. x is the result of a factory or of a
// file, and may never be read, when it is moved to a device of an abstract session (hlod/runtime/abstract.h).
// Returns an undefined tensor if x must be converted at once: its bytes exist, it is on a device, a view or
// in a traced function, or gradients flow to it.
Tensor ConvertedLater(const Tensor& x, PrimitiveType type, const Caller& caller);

}  // namespace hlod::lazy
