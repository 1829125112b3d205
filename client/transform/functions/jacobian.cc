// The parts of Jacobians and Hessians that are not templates.
#include "hlod/transform/jacobian.h"

namespace hlod::lazy {

Dims JoinedDims(Dims first, const Dims& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Tensor UnitVectors(const Tensor& x, const Caller& caller) {
  return Eye(x.numel(), {}, {.type = x.dtype(), .device = x.device()}, caller)
      .Reshape(JoinedDims({x.numel()}, x.dims()), caller);
}

}  // namespace hlod::lazy
