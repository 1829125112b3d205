// Views and pieces as free functions: they share the data, as Tensor's methods of the same names do.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Reshape(const Operand& x, DimList dims);  // A view when strides allow it, else a copy.
Tensor Permute(const Operand& x, DimList permutation);
Tensor Transpose(const Operand& x, int64_t dim0, int64_t dim1);
Tensor Swapaxes(const Operand& x, int64_t dim0, int64_t dim1);  // Transpose.
Tensor Movedim(const Operand& x, DimList source, DimList destination);
Tensor Narrow(const Operand& x, int64_t dim, int64_t start, int64_t length);
// The same with a start that is read. Where it is computed while a function is traced it cannot be: then the
// result is that of DynamicSlice (hlod/ops/dynamic_slice.h), a copy at a start that is moved inside.
Tensor Narrow(const Operand& x, int64_t dim, const Tensor& start, int64_t length);
Tensor NarrowCopy(const Operand& x, int64_t dim, int64_t start, int64_t length);  // With its own value.
Tensor Select(const Operand& x, int64_t dim, int64_t index);
Tensor Squeeze(const Operand& x);                // Without all dimensions of size 1 ...
Tensor Squeeze(const Operand& x, DimList dims);  // ... or without these, where their size is 1.
Tensor Unsqueeze(const Operand& x, int64_t dim);
Tensor Flatten(const Operand& x, int64_t start = 0, int64_t end = -1);
Tensor Unflatten(const Operand& x, int64_t dim, DimList sizes);  // One dimension as several; -1 is inferred.
Tensor Ravel(const Operand& x);                                  // As a vector.
Tensor Diagonal(const Operand& x, int64_t offset = 0, int64_t dim0 = 0, int64_t dim1 = 1);
Tensor AsStrided(const Operand& x, DimList dims, DimList strides, std::optional<int64_t> offset = {});

// Real and imaginary parts along a new last dimension of size 2, and back. A copy, not a view.
Tensor ViewAsReal(const Operand& x);
Tensor ViewAsComplex(const Operand& x);

Tensor BroadcastTo(const Operand& x, DimList dims);  // Expand.
Tensor ExpandAs(const Operand& x, const Tensor& other);
Tensor ViewAs(const Operand& x, const Tensor& other);
Tensor ReshapeAs(const Operand& x, const Tensor& other);
// The sum of x over what broadcasting `dims` to x's shape would repeat.
Tensor SumToSize(const Operand& x, DimList dims);
// Returns the shape that shapes broadcast to.
Dims BroadcastShapes(const std::vector<Dims>& shapes, Caller caller = Caller::Here());
// All in their common shape.
std::vector<Tensor> BroadcastTensors(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());

// Return a tensor of at least 1, 2 or 3 dimensions: sizes of 1 are added as NumPy adds them.
Tensor Atleast1d(const Operand& x);
Tensor Atleast2d(const Operand& x);
Tensor Atleast3d(const Operand& x);

// Pieces of `size`, the last one smaller when it does not divide.
std::vector<Tensor> Split(const Operand& x, int64_t size, int64_t dim = 0);
std::vector<Tensor> SplitWithSizes(const Operand& x, DimList sizes, int64_t dim = 0);
// At most `chunks` pieces of one size, the last one smaller.
std::vector<Tensor> Chunk(const Operand& x, int64_t chunks, int64_t dim = 0);
// Exactly `sections` pieces, the first ones larger by 1; or pieces that end at `indices`.
std::vector<Tensor> TensorSplit(const Operand& x, int64_t sections, int64_t dim = 0);
std::vector<Tensor> TensorSplit(const Operand& x, DimList indices, int64_t dim = 0);
// Pieces of equal sizes, or pieces that end at indices: of columns (a vector's elements), rows, and depth
// (dimension 2).
std::vector<Tensor> Hsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Hsplit(const Operand& x, DimList indices);
std::vector<Tensor> Vsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Vsplit(const Operand& x, DimList indices);
std::vector<Tensor> Dsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Dsplit(const Operand& x, DimList indices);
std::vector<Tensor> Unbind(const Operand& x, int64_t dim = 0);  // Every index of a dimension.

}  // namespace hlod
