// Views: the steps from a storage to a tensor's elements. Reading applies the steps to the storage's value;
// writing through a view goes back through them and makes a new value for the storage.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "client/tensor/dispatch/lowering.h"
#include "hlod/runtime/types.h"

namespace hlod::lazy {

// x[start:limit:step] along one dimension. step > 0, 0 <= start <= limit <= size. If `varies`, step is 1 and
// the start is a parameter of the trace, so that the program is the same for every start.
struct SliceStep {
  int64_t dim, start, limit, step;
  bool varies = false;
};
// Output dimension i is input dimension permutation[i].
struct PermuteStep {
  Dims permutation;
};
// The same elements in row-major order.
struct ReshapeStep {
  Dims dims;
};
// Repeats sizes of 1, and adds dimensions in front. Cannot be written through.
struct ExpandStep {
  Dims dims;
};
// Element (i, j, ...) is element offset + i * strides[0] + j * strides[1] + ... of the array that it is
// applied to, in row-major order.
struct StridedStep {
  Dims dims, strides;
  int64_t offset;
};
using ViewStep = std::variant<SliceStep, PermuteStep, ReshapeStep, ExpandStep, StridedStep>;

struct View {
  std::vector<ViewStep> steps;  // The steps; empty for the storage itself.
  Dims dims, strides;           // Strides are PyTorch's, in elements of the storage.
  int64_t offset = 0;
  // The first `leading` steps lead to the tensor whose gradients include the view's (Lineage). 0 if one step
  // over the whole storage has replaced these steps.
  size_t leading = 0;
};

View WholeView(const Dims& dims);
bool IsContiguous(const View& view);
// Returns the strides that `dims` would have as a view of `view`; nullopt if PyTorch's view() would refuse,
// because a dimension would join others that are not contiguous.
std::optional<Dims> ReshapedStrides(const View& view, const Dims& dims);

// Return the first `count` steps, or the remaining ones, without shapes.
View FirstSteps(const View& view, size_t count);
View StepsAfter(const View& view, size_t count);
// Returns true when two indices of the view address the same element.
bool Overlaps(const View& view);
// Appends the steps to `base` and returns the resulting elements.
Op Apply(Lowering& l, const View& view, Op base);
// Returns `base` with `update` written where the steps look. Refuses views that show an element more than
// once.
Op Scatter(Lowering& l, const View& view, Op base, Op update);

}  // namespace hlod::lazy
