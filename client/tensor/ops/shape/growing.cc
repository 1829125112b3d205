// Pads dimensions that grow to sizes that seldom change.
#include "client/tensor/ops/shape/growing.h"

#include <algorithm>

#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/trace/size_bounds.h"

namespace hlod::lazy {

int64_t PaddedSize(Lowering& l, Op x, int64_t dim) {
  // A short loop is served by one size, unless padding to it makes a large array several times larger.
  constexpr int64_t kPaddedMin = 64, kSmall = int64_t{1} << 16;
  const int64_t size = l.dims(x)[dim];
  if (size == 0 || !l.Varies(size, "size")) return size;
  const int64_t bound = BoundOf(size), lines = Count(l.dims(x)) / size;
  return lines <= kSmall / kPaddedMin ? std::max(kPaddedMin, bound) : bound;
}

Op PaddedTo(Lowering& l, Op x, int64_t dim, int64_t size, Op value) {
  return PadDim(l, x, value, dim, {0, size - l.dims(x)[dim], 0});
}

}  // namespace hlod::lazy
