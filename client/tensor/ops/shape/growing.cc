// Pads dimensions that grow to sizes that seldom change.
#include "client/tensor/ops/shape/growing.h"

#include <algorithm>

#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/trace/size_bounds.h"

namespace hlod::lazy {

int64_t PaddedSize(Lowering& l, int64_t size) {
  constexpr int64_t kPaddedMin = 64;  // A short loop is served by one size.
  return size > 0 && l.Varies(size, "size") ? std::max(kPaddedMin, BoundOf(size)) : size;
}

Op PaddedTo(Lowering& l, Op x, int64_t dim, int64_t size, Op value) {
  return PadDim(l, x, value, dim, {0, size - l.dims(x)[dim], 0});
}

}  // namespace hlod::lazy
