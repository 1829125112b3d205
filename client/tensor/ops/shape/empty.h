// Results without elements that are functions of an operand, so that it has a gradient: zeros.
#pragma once

#include "client/tensor/dispatch/lowering.h"
#include "client/tensor/ops/shape/movement.h"

namespace hlod::lazy {

// Returns no elements of x in the shape `dims`. REQUIRES: a dimension is 0.
inline Op WithoutElements(Lowering& l, Op x, const Dims& dims) {
  if (Count(l.dims(x)) == 0) return l.Reshape(x, dims);
  return l.Reshape(SliceDim(l, Flat(l, x), 0, 0, 0), dims);
}

}  // namespace hlod::lazy
