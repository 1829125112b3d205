// What reductions are written with.
#pragma once

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// The shape with the dimensions gone, or of size 1.
Dims Kept(const Dims& dims, const Dims& reduced, bool keepdim);
// The number of elements that are reduced to one.
double CountOf(const Dims& dims, const Dims& reduced);
// Sums of types of 16 bits and fewer add up in f32; the result has the wide type.
Op SumOps(Lowering& l, Op x, const Dims& dims);
// The reduced dimensions are back with size 1.
Op KeepDims(Lowering& l, Op reduced, const Dims& from, const Dims& dims);

}  // namespace hlod::lazy
