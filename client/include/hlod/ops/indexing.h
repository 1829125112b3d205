// Reads and writes elements whose positions are tensors of integers. For host tensors, which are computed at
// once, an index out of range throws an error that names it. On a device, and in a traced function, it is not
// an error: as in XLA, a read takes the nearest element, and a write has no effect. The same holds for the
// classes of OneHot(), the rows of Embedding() and the targets of losses.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

// The slices at the indices of a vector.
Tensor IndexSelect(const Operand& x, int64_t dim, const Operand& index);
// out[i][j] = x[index[i][j]][j] for dim 0.
Tensor Gather(const Operand& x, int64_t dim, const Operand& index);
Tensor Take(const Operand& x, const Operand& index);  // Indexes the flattened tensor.
// Like Gather, with the other dimensions broadcast; without a dimension, on flattened tensors.
Tensor TakeAlongDim(const Operand& x, const Operand& index, std::optional<int64_t> dim = {});

// x[indices[0], indices[1], ...] as PyTorch indexes with tensors. An undefined tensor means a whole dimension
// (":"). A mask (of type pred) means the positions where it is true; their number is read.
Tensor Index(const Operand& x, const std::vector<Tensor>& indices);
// A copy of x in which `values` are written to (or added to, with accumulate) the elements that Index() would
// read.
Tensor IndexPut(const Operand& x, const std::vector<Tensor>& indices, const Operand& values,
                bool accumulate = false);
Tensor& IndexPut_(Tensor& x, const std::vector<Tensor>& indices, const Operand& values,
                  bool accumulate = false);

// A copy of x with slices of a dimension added to, replaced, or filled.
Tensor IndexAdd(const Operand& x, int64_t dim, const Operand& index, const Operand& source, Scalar alpha = 1);
Tensor IndexCopy(const Operand& x, int64_t dim, const Operand& index, const Operand& source);
Tensor IndexFill(const Operand& x, int64_t dim, const Operand& index, const Operand& value);
Tensor& IndexAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source, Scalar alpha = 1);
Tensor& IndexCopy_(Tensor& x, int64_t dim, const Operand& index, const Operand& source);
Tensor& IndexFill_(Tensor& x, int64_t dim, const Operand& index, const Operand& value);

// A copy of x with x[index[i][j]][j] = source[i][j] for dim 0; the source may be a number.
Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source);
Tensor ScatterAdd(const Operand& x, int64_t dim, const Operand& index, const Operand& source);
enum class ScatterReduction { kSum, kProd, kMean, kAmax, kAmin };
// Like Scatter, but each element is combined with the source by a reduction; any except the mean.
Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
               ScatterReduction reduction);
// Like Scatter with a reduction, which includes x's own elements when `include_self`.
Tensor ScatterReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                     ScatterReduction reduction, bool include_self = true);
// Like ScatterReduce, for whole slices, whose indices are a vector.
Tensor IndexReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                   ScatterReduction reduction, bool include_self = true);
// Reduces consecutive segments of the first dimension. Segments are described by their lengths, or by
// offsets: where each begins, and the end of the last one. `initial` takes part in each reduction, and is the
// result of an empty segment; without it that result is the reduction's neutral number, or NaN for the mean.
// Lengths known on the host must sum to the number of rows, else they are refused.
struct SegmentOptions {
  Tensor lengths = {}, offsets = {};  // Exactly one of the two is defined.
  std::optional<double> initial = {};
};
Tensor SegmentReduce(const Operand& x, ScatterReduction reduction, const SegmentOptions& options);
// A copy of x in which elements of the flattened tensor are replaced, or added to.
Tensor Put(const Operand& x, const Operand& index, const Operand& source, bool accumulate = false);
Tensor& Scatter_(Tensor& x, int64_t dim, const Operand& index, const Operand& source);
Tensor& ScatterAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source);

// A copy of x with `value`, a number or a scalar tensor, where the mask (pred, broadcast to x) is true.
Tensor MaskedFill(const Operand& x, const Operand& mask, const Operand& value);
Tensor& MaskedFill_(Tensor& x, const Operand& mask, const Operand& value);
// Writes the value to the elements whose indices are all equal.
Tensor& FillDiagonal_(Tensor& x, Scalar value, Caller caller = Caller::Here());
// A copy of x in which the elements where the mask is true are replaced by the source's elements, in order.
Tensor MaskedScatter(const Operand& x, const Operand& mask, const Operand& source);

// The shape of the result depends on values: these functions close the trace and read one number.
Tensor Nonzero(const Operand& x);  // [count, rank]: the positions where x is not zero, in row-major order.
inline Tensor Argwhere(const Operand& x) { return Nonzero(x); }  // NumPy's name for Nonzero().
struct BoundedPositions {
  Tensor positions;  // [limit, rank]: the first positions, then rows of -1.
  Tensor count;      // s64[]: the number of positions, also when it exceeds the limit.
};
// Nonzero() with at most `limit` rows: reads nothing, and accepts placeholders.
BoundedPositions NonzeroBounded(const Operand& x, int64_t limit);
// The positions where the condition is true: one vector per dimension.
std::vector<Tensor> Where(const Operand& condition);
// The elements where the mask is true, as a vector in row-major order.
Tensor MaskedSelect(const Operand& x, const Operand& mask);

// A tensor of type s64 that is 1 at the index and 0 elsewhere; all 0 for an index out of range on a device.
// The number of classes defaults to the largest index plus one, which is read.
Tensor OneHot(const Operand& x, std::optional<int64_t> classes = {});

// [2, count]: rows and columns of the elements of a triangle.
Tensor TrilIndices(int64_t rows, int64_t columns, int64_t offset = 0, std::optional<Device> device = {},
                   Caller caller = Caller::Here());
Tensor TriuIndices(int64_t rows, int64_t columns, int64_t offset = 0, std::optional<Device> device = {},
                   Caller caller = Caller::Here());

}  // namespace hlod
