// Lowerings that move elements, shared by many operations: slices, pads, gathers, scatters.
#pragma once

#include <vector>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

// Returns the size of a dimension of `size` elements that are `dilation` apart.
inline int64_t DilatedSize(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

inline int64_t RankOf(Lowering& l, Op x) { return static_cast<int64_t>(l.dims(x).size()); }
// Returns x as a vector.
inline Op Flat(Lowering& l, Op x) { return l.Reshape(x, {Count(l.dims(x))}); }
// Appends a last dimension of size 1.
Op KeptLast(Lowering& l, Op x);
// Returns x[start:limit:stride] along one dimension.
Op SliceDim(Lowering& l, Op x, int64_t dim, int64_t start, int64_t limit, int64_t stride = 1);
Op PadDim(Lowering& l, Op x, Op value, int64_t dim, hlo::PadDimension amount);
// Returns `x` itself when the permutation is the identity.
Op Permuted(Lowering& l, Op x, const Dims& permutation);
Op Reversed(Lowering& l, Op x, const Dims& dimensions);
// Concatenates the operands; a single one is returned itself.
Op Joined(Lowering& l, absl::Span<const Op> parts, int64_t dim);
// Moves dimension `dim` to `to`.
Op MovedDim(Lowering& l, Op x, int64_t dim, int64_t to);
// Broadcasts matrices to the dimensions `batch` in front of their last two.
Op InBatch(Lowering& l, Op x, const Dims& batch);

// IndexVector: an s64 constant. IndexIota: an s64 counter along `dim`.
Op IndexVector(Lowering& l, absl::Span<const int64_t> values);
Op IndexIota(Lowering& l, const Dims& dims, int64_t dim);
// Returns index, or index + size if it is negative.
Op WrapNegative(Lowering& l, Op index, int64_t size);
// Refuses an index whose type is not an integer.
void RequireIndex(Lowering& l, Op index);

// Replaces dimension `dim` of x by index's dimensions: the slices that the index names.
Op SelectSlices(Lowering& l, Op x, int64_t dim, Op index);
// Returns out[i][j][k] = x[i][index[i][j][k]][k] (for dim 1). The index has x's rank, and its sizes in other
// dimensions do not exceed x's.
Op GatherAlong(Lowering& l, Op x, int64_t dim, Op index);

// The way a scatter combines an existing element with an update.
enum class Combine { kSet, kAdd, kMultiply, kMinimum, kMaximum };
// Returns the HLO scatter with that combiner.
Op ScatterWith(Lowering& l, Op x, Op index, Op updates, hlo::ScatterAttributes attributes, Combine combine);
// Stores x[i][index[i][j][k]][k] = source[i][j][k] (for dim 1). The source may be larger than the index.
Op ScatterAlong(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine);
// Combines the slices of dimension `dim` that a vector of indices names with the slices of `source`.
Op ScatterSlices(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine);

}  // namespace hlod::lazy
