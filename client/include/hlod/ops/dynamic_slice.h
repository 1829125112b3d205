// Slices whose position is computed on the device, so that it may be the index of a loop (Scan, ForiLoop,
// Jit).
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// jax.lax.dynamic_slice: `sizes` elements of x from `starts` on, an integer or a scalar tensor of integers
// for each dimension. A negative start counts from the end; the start is then moved so that the slice is
// inside.
//   row = DynamicSlice(x, {i, 0}, {1, x.size(1)});
Tensor DynamicSlice(const Operand& x, const std::vector<Operand>& starts, DimList sizes);

// jax.lax.dynamic_update_slice: x with `update`, converted to x's type, in place of the slice at `starts`.
Tensor DynamicUpdateSlice(const Operand& x, const Operand& update, const std::vector<Operand>& starts);

}  // namespace hlod
