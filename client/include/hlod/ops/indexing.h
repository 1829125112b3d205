// Reading and writing elements that other tensors name. Indices are tensors of integers. Of host tensors,
// which are computed at once, an index out of range throws, naming it; on a device, and in a function that is
// traced, it is not an error but reads the nearest element, and writes nothing, as XLA does. The same holds
// of the classes of OneHot(), of rows of Embedding() and of the targets of losses.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor IndexSelect(const Operand& x, int64_t dim, const Operand& index);  // The slices a vector names.
// out[i][j] = x[index[i][j]][j] for dim 0.
Tensor Gather(const Operand& x, int64_t dim, const Operand& index);
Tensor Take(const Operand& x, const Operand& index);  // Indexes the flattened tensor.
// Gather with the other dimensions broadcast; without a dimension, of flattened tensors.
Tensor TakeAlongDim(const Operand& x, const Operand& index, std::optional<int64_t> dim = {});

// x[indices[0], indices[1], ...] as PyTorch indexes with tensors. An undefined tensor stands for a whole
// dimension (":"). A mask (of type pred) stands for its nonzero positions, whose number is read.
Tensor Index(const Operand& x, const std::vector<Tensor>& indices);
// The same place written: a copy of x with `values` there (added, when they accumulate).
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
// The same, each element joined with what comes: by any reduction but the mean.
Tensor Scatter(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
               ScatterReduction reduction);
// The same joined by a reduction, in which x's own elements take part when `include_self`.
Tensor ScatterReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                     ScatterReduction reduction, bool include_self = true);
// The same with the slices of a dimension that a vector names.
Tensor IndexReduce(const Operand& x, int64_t dim, const Operand& index, const Operand& source,
                   ScatterReduction reduction, bool include_self = true);
// The rows of each segment of the first dimension, joined by a reduction. Segments follow one another: they
// have lengths, or begin at offsets, of which the last is the end of the last. `initial` takes part in each,
// and is the result of an empty segment; without it that is the reduction's neutral number, NaN for the mean.
// Lengths that are known on the host and are not those of all rows are refused.
struct SegmentOptions {
  Tensor lengths = {}, offsets = {};  // One of both.
  std::optional<double> initial = {};
};
Tensor SegmentReduce(const Operand& x, ScatterReduction reduction, const SegmentOptions& options);
// Elements of the flattened tensor replaced, or added to.
Tensor Put(const Operand& x, const Operand& index, const Operand& source, bool accumulate = false);
Tensor& Scatter_(Tensor& x, int64_t dim, const Operand& index, const Operand& source);
Tensor& ScatterAdd_(Tensor& x, int64_t dim, const Operand& index, const Operand& source);

Tensor MaskedFill(const Operand& x, const Operand& mask, const Operand& value);
Tensor& MaskedFill_(Tensor& x, const Operand& mask, const Operand& value);
Tensor& FillDiagonal_(Tensor& x, Scalar value, Caller caller = Caller::Here());
// x with the source's elements, one after another, where the mask is true.
Tensor MaskedScatter(const Operand& x, const Operand& mask, const Operand& source);

// These have shapes that depend on values: they close the trace and read one number.
Tensor Nonzero(const Operand& x);  // [count, rank]: where x is not zero, in row-major order.
inline Tensor Argwhere(const Operand& x) { return Nonzero(x); }  // NumPy's name for it.
struct BoundedPositions {
  Tensor positions;  // [limit, rank]: the first ones, then rows of -1.
  Tensor count;      // s64[]: how many there are, also when they exceed the limit.
};
// The same with a limit for a shape: reads nothing, and takes placeholders.
BoundedPositions NonzeroBounded(const Operand& x, int64_t limit);
std::vector<Tensor> Where(const Operand& condition);  // The same, a vector for each dimension.
Tensor MaskedSelect(const Operand& x, const Operand& mask);

// 1 at the index, of type s64, and 0 everywhere for an index out of range on a device. Without a number of
// classes, one more than the largest index, which is read.
Tensor OneHot(const Operand& x, std::optional<int64_t> classes = {});

// [2, count]: rows and columns of the elements of a triangle.
Tensor TrilIndices(int64_t rows, int64_t columns, int64_t offset = 0, std::optional<Device> device = {},
                   Caller caller = Caller::Here());
Tensor TriuIndices(int64_t rows, int64_t columns, int64_t offset = 0, std::optional<Device> device = {},
                   Caller caller = Caller::Here());

}  // namespace hlod
