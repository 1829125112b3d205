// Lowerings that move elements, which many operations share: parts, pads, gathers, scatters.
#pragma once

#include <vector>

#include "client/tensor/dispatch/lowering.h"

namespace hlod::lazy {

inline int64_t RankOf(Lowering& l, Op x) { return static_cast<int64_t>(l.dims(x).size()); }
// As a vector.
inline Op Flat(Lowering& l, Op x) { return l.Reshape(x, {Count(l.dims(x))}); }
// With a last dimension of size 1.
Op KeptLast(Lowering& l, Op x);
// x[start:limit:stride] of one dimension.
Op SliceDim(Lowering& l, Op x, int64_t dim, int64_t start, int64_t limit, int64_t stride = 1);
Op PadDim(Lowering& l, Op x, Op value, int64_t dim, hlo::PadDimension amount);
// `x` itself when the permutation is the identity.
Op Permuted(Lowering& l, Op x, const Dims& permutation);
Op Reversed(Lowering& l, Op x, const Dims& dimensions);
// The operands one after another; one operand is itself.
Op Joined(Lowering& l, absl::Span<const Op> parts, int64_t dim);
// Dimension `dim` moved to `to`.
Op MovedDim(Lowering& l, Op x, int64_t dim, int64_t to);
// Matrices broadcast to `batch` in front of their last two dimensions.
Op InBatch(Lowering& l, Op x, const Dims& batch);

// s64 constants and counters.
Op IndexVector(Lowering& l, absl::Span<const int64_t> values);
Op IndexIota(Lowering& l, const Dims& dims, int64_t dim);
// index, or index + size where it is negative.
Op WrapNegative(Lowering& l, Op index, int64_t size);
// Refuses an index whose type is not an integer.
void RequireIndex(Lowering& l, Op index);

// x with dimension `dim` replaced by index's dimensions: the slices that the index names.
Op SelectSlices(Lowering& l, Op x, int64_t dim, Op index);
// out[i][j][k] = x[i][index[i][j][k]][k] for dim 1. The index has x's rank, and its other sizes do not exceed
// x's.
Op GatherAlong(Lowering& l, Op x, int64_t dim, Op index);

// How a scatter joins what is there with what comes.
enum class Combine { kSet, kAdd, kMultiply, kMinimum, kMaximum };
// The HLO scatter with that combiner.
Op ScatterWith(Lowering& l, Op x, Op index, Op updates, hlo::ScatterAttributes attributes, Combine combine);
// x[i][index[i][j][k]][k] = source[i][j][k] for dim 1; the source may be larger than the index.
Op ScatterAlong(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine);
// The slices of dimension `dim` that a vector names, joined with the slices of `source`.
Op ScatterSlices(Lowering& l, Op x, int64_t dim, Op index, Op source, Combine combine);

}  // namespace hlod::lazy
