// Pooling windows: their sizes, their number, and maxima with their positions.
#pragma once

#include <optional>

#include "client/tensor/dispatch/lowering.h"
#include "hlod/ops/sizes.h"

namespace hlod::lazy {

struct Pool {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;
};

// Returns the pool of `spatial` dimensions. Refuses padding of more than half the kernel.
Pool MakePool(int64_t spatial, const Sizes& kernel, const std::optional<Sizes>& stride, const Sizes& padding,
              const Sizes& dilation, bool ceil_mode);
// Refuses x unless it is [batch, channels, spatial...] or [channels, spatial...].
void RequireSpatial(Lowering& l, Op x, int64_t spatial);
// Returns the number of windows in `size` elements of dimension i of the pool.
int64_t WindowCount(const Pool& pool, size_t i, int64_t size);
// Returns the windows over the last dimensions of `dims`.
hlo::Window WindowsOf(const Pool& pool, const Dims& dims);

// Values and their positions in the flattened spatial dimensions (s64).
struct Placed {
  Op value, place;
};
// Pairs x with the position of each element in its last `spatial` dimensions.
Placed PlacedOps(Lowering& l, Op x, int64_t spatial);
// Returns a reducer of (value, place, value, place) to the greater value with its place. Among equal values
// the first is chosen; NaN is greater than any number, and among several NaNs the last is chosen, as in
// PyTorch.
hlo::ComputationId PlacedMaximum(PrimitiveType type);
// Returns the start of that reduction: a value less than any element, and its place.
Placed PlacedNothing(Lowering& l, PrimitiveType type);

}  // namespace hlod::lazy
