// Helpers for writing reductions.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns `dims` with the reduced dimensions removed or, with `keepdim`, of size 1.
Dims Kept(const Dims& dims, const Dims& reduced, bool keepdim);
// Returns the number of elements that are reduced to one element.
double CountOf(const Dims& dims, const Dims& reduced);
// Returns the sum over `dims`. Types of 16 bits and fewer are accumulated in f32; the result has that wide
// type.
Op SumOps(Lowering& l, Op x, const Dims& dims);
// Restores the reduced dimensions with size 1.
Op KeepDims(Lowering& l, Op reduced, const Dims& from, const Dims& dims);

}  // namespace hlod::lazy
