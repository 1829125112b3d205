// Windows of poolings: their sizes, how many there are, and the extreme with its place.
#pragma once

#include <optional>

#include "client/tensor/dispatch/lowering.h"
#include "hlod/ops/sizes.h"

namespace hlod::lazy {

struct Pool {
  Dims kernel, stride, padding, dilation;
  bool ceil_mode;
};

// Of `spatial` dimensions. Refuses padding of more than half the kernel.
Pool MakePool(int64_t spatial, const Sizes& kernel, const std::optional<Sizes>& stride, const Sizes& padding,
              const Sizes& dilation, bool ceil_mode);
// Refuses what is not [batch, channels, spatial...] or [channels, spatial...].
void RequireSpatial(Lowering& l, Op x, int64_t spatial);
// How many windows stand in `size` elements of dimension i of the pool.
int64_t WindowCount(const Pool& pool, size_t i, int64_t size);
// The windows over the last dimensions of `dims`.
hlo::Window WindowsOf(const Pool& pool, const Dims& dims);

// A value and where it is in the flattened spatial dimensions (s64).
struct Placed {
  Op value, place;
};
// x with each element's place in its last `spatial` dimensions.
Placed PlacedOps(Lowering& l, Op x, int64_t spatial);
// Joins two scalars of a kind (value, place, value, place) to the greater with its place: of equal ones the
// first; NaN is greater than any number, and of several the last counts, as in PyTorch.
hlo::ComputationId PlacedMaximum(PrimitiveType type);
// What is less than any element, and its place.
Placed PlacedNothing(Lowering& l, PrimitiveType type);

}  // namespace hlod::lazy
