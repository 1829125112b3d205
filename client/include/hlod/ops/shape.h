// Views and pieces as free functions. They share the data, like Tensor's methods of the same names.
#pragma once

#include <vector>

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Reshape(const Operand& x, DimList dims);  // A view when strides allow it, else a copy.
Tensor Permute(const Operand& x, DimList permutation);
Tensor Transpose(const Operand& x, int64_t dim0, int64_t dim1);
Tensor Swapaxes(const Operand& x, int64_t dim0, int64_t dim1);  // The same as Transpose.
Tensor Movedim(const Operand& x, DimList source, DimList destination);
Tensor Narrow(const Operand& x, int64_t dim, int64_t start, int64_t length);
// Narrow with a start that is a tensor, which is read. A start computed in a traced function cannot be read;
// then the result is that of DynamicSlice (hlod/ops/dynamic_slice.h): a copy, with the start clamped.
Tensor Narrow(const Operand& x, int64_t dim, const Tensor& start, int64_t length);
Tensor NarrowCopy(const Operand& x, int64_t dim, int64_t start, int64_t length);  // Like Narrow, but a copy.
Tensor Select(const Operand& x, int64_t dim, int64_t index);
Tensor Squeeze(const Operand& x);                // Removes all dimensions of size 1.
Tensor Squeeze(const Operand& x, DimList dims);  // Removes those of the given dimensions whose size is 1.
Tensor Unsqueeze(const Operand& x, int64_t dim);
Tensor Flatten(const Operand& x, int64_t start = 0, int64_t end = -1);
// Splits a dimension into several; a size of -1 is inferred.
Tensor Unflatten(const Operand& x, int64_t dim, DimList sizes);
Tensor Ravel(const Operand& x);  // Flattens to a vector.
Tensor Diagonal(const Operand& x, int64_t offset = 0, int64_t dim0 = 0, int64_t dim1 = 1);
Tensor AsStrided(const Operand& x, DimList dims, DimList strides, std::optional<int64_t> offset = {});

// ViewAsReal: real and imaginary parts along a new last dimension of size 2. ViewAsComplex is the reverse.
// Both copy.
Tensor ViewAsReal(const Operand& x);
Tensor ViewAsComplex(const Operand& x);

Tensor BroadcastTo(const Operand& x, DimList dims);  // The same as Expand.
Tensor ExpandAs(const Operand& x, const Tensor& other);
Tensor ViewAs(const Operand& x, const Tensor& other);
Tensor ReshapeAs(const Operand& x, const Tensor& other);
// The sum of x over the dimensions along which broadcasting `dims` to x's shape repeats elements.
Tensor SumToSize(const Operand& x, DimList dims);
// Returns the shape that shapes broadcast to.
Dims BroadcastShapes(const std::vector<Dims>& shapes, Caller caller = Caller::Here());
// Broadcasts all to their common shape.
std::vector<Tensor> BroadcastTensors(const std::vector<Tensor>& tensors, Caller caller = Caller::Here());

// Return a tensor of at least 1, 2 or 3 dimensions: sizes of 1 are added as NumPy adds them.
Tensor Atleast1d(const Operand& x);
Tensor Atleast2d(const Operand& x);
Tensor Atleast3d(const Operand& x);

// Pieces of `size` along a dimension; the last one is smaller when the size does not divide.
std::vector<Tensor> Split(const Operand& x, int64_t size, int64_t dim = 0);
// Pieces of the given sizes, which must sum to the dimension's size.
std::vector<Tensor> SplitWithSizes(const Operand& x, DimList sizes, int64_t dim = 0);
// At most `chunks` pieces of one size, the last one smaller.
std::vector<Tensor> Chunk(const Operand& x, int64_t chunks, int64_t dim = 0);
// Exactly `sections` pieces, the first of them larger by 1 when needed; or pieces that end at `indices`.
std::vector<Tensor> TensorSplit(const Operand& x, int64_t sections, int64_t dim = 0);
std::vector<Tensor> TensorSplit(const Operand& x, DimList indices, int64_t dim = 0);
// Pieces of equal sizes, or pieces that end at indices: along columns (of a vector: its elements), rows, or
// depth (dimension 2).
std::vector<Tensor> Hsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Hsplit(const Operand& x, DimList indices);
std::vector<Tensor> Vsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Vsplit(const Operand& x, DimList indices);
std::vector<Tensor> Dsplit(const Operand& x, int64_t sections);
std::vector<Tensor> Dsplit(const Operand& x, DimList indices);
std::vector<Tensor> Unbind(const Operand& x, int64_t dim = 0);  // The slices at every index of a dimension.

}  // namespace hlod
