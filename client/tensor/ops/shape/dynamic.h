// Shapes that depend on values.
#pragma once

#include <cstdint>
#include <vector>

#include "client/tensor/dispatch/operation.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// Returns the s64 elements of `sizes`, on which the shape of the operation's result depends. Closes the trace
// and waits for the values. Throws an error of kind placeholder when they depend on a placeholder.
std::vector<int64_t> ReadSizes(const Operation& operation, const Tensor& sizes, const Caller& caller);

}  // namespace hlod::lazy
