// Rearranging elements: repeating, rolling, rotating, padding, triangles, diagonals, windows.
#pragma once

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Repeats the whole tensor repeats[d] times along each dimension d.
Tensor Repeat(const Operand& x, DimList repeats);
Tensor Tile(const Operand& x, DimList repeats);  // Like Repeat; missing repeats are 1.
// Repeats each element `repeats` times in place along a dimension; without a dimension, of the flattened
// tensor.
Tensor RepeatInterleave(const Operand& x, int64_t repeats, std::optional<int64_t> dim = {});
// Repeats slice i repeats[i] times; one number serves all slices. The size of the result is read from the
// tensor unless it is passed.
Tensor RepeatInterleave(const Operand& x, const Tensor& repeats, std::optional<int64_t> dim = {},
                        std::optional<int64_t> output_size = {});
// Moves elements by `shifts` along `dims`, around the end; without dims, in the flattened tensor.
Tensor Roll(const Operand& x, DimList shifts, DimList dims = {});
Tensor Flip(const Operand& x, DimList dims);  // Reverses the order along each of the dimensions.
Tensor Fliplr(const Operand& x);  // Reverses dimension 1.
Tensor Flipud(const Operand& x);  // Reverses dimension 0.
// Rotates by 90 degrees `k` times in the plane of two dimensions, from the first to the second.
Tensor Rot90(const Operand& x, int64_t k = 1, DimList dims = {0, 1});

// The part of matrices on and below (Triu: above) a diagonal; zeros elsewhere.
Tensor Tril(const Operand& x, int64_t diagonal = 0);
Tensor Triu(const Operand& x, int64_t diagonal = 0);
// Returns the matrix with a vector as its diagonal, or the diagonal of a matrix.
Tensor Diag(const Operand& x, int64_t diagonal = 0);
// Returns matrices whose diagonals are the last dimension of x.
Tensor DiagEmbed(const Operand& x, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
// Returns the matrix whose diagonal is all elements of x.
Tensor Diagflat(const Operand& x, int64_t offset = 0);

// A copy of x in which a part (what Diagonal, Select, Slice or AsStrided would return) is replaced by
// `source`, which has the part's shape.
Tensor DiagonalScatter(const Operand& x, const Operand& source, int64_t offset = 0, int64_t dim1 = 0,
                       int64_t dim2 = 1);
Tensor SelectScatter(const Operand& x, const Operand& source, int64_t dim, int64_t index);
Tensor SliceScatter(const Operand& x, const Operand& source, int64_t dim = 0,
                    std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1);
Tensor AsStridedScatter(const Operand& x, const Operand& source, DimList dims, DimList strides,
                        std::optional<int64_t> offset = {});

enum class PadMode { kConstant, kReflect, kReplicate, kCircular };
// nn.functional.pad: `padding` is (low, high) of the last dimension, then of the one before, and so on.
// Negative amounts remove elements.
Tensor Pad(const Operand& x, DimList padding, PadMode mode = PadMode::kConstant, Scalar value = 0);

// Rearranges [..., C r r, H, W] as [..., C, H r, W r]; PixelUnshuffle does the reverse.
Tensor PixelShuffle(const Operand& x, int64_t factor);
Tensor PixelUnshuffle(const Operand& x, int64_t factor);

// Unfold returns the windows of [N, C, H, W] as columns, [N, C kh kw, L]; Fold sums such columns back at
// their positions. nn.functional.unfold and fold.
struct UnfoldOptions {
  Sizes dilation = 1, padding = 0, stride = 1;
};
Tensor Unfold(const Operand& x, Sizes kernel, UnfoldOptions options = {});
Tensor Fold(const Operand& x, Sizes output, Sizes kernel, UnfoldOptions options = {});

}  // namespace hlod
