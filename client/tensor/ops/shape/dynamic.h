// Shapes that depend on values.
#pragma once

#include <cstdint>
#include <vector>

#include "client/tensor/dispatch/operation.h"
#include "hlod/tensor/tensor.h"

namespace hlod::lazy {

// The s64 elements of `sizes`, on which the shape of the operation's result depends: closes the trace and
// waits. Throws an error of kind placeholder when they depend on one.
std::vector<int64_t> ReadSizes(const Operation& operation, const Tensor& sizes, const Caller& caller);

}  // namespace hlod::lazy
