// Host tensors in another type, whose bytes wait until somebody asks for them.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Returns x in the type `type`, to be converted when its bytes are asked for: a factory's or a file's, which
// may go to a device that has no bytes (hlod/runtime/abstract.h) and never be read. Returns an undefined
// tensor when x has to be converted at once: its bytes exist, it is on a device, a view or in a traced
// function, or gradients flow to it.
Tensor ConvertedLater(const Tensor& x, PrimitiveType type, const Caller& caller);

}  // namespace hlod::lazy
