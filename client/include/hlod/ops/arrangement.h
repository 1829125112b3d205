// Rearranging elements: repeating, rolling, turning, padding, triangles, diagonals, windows.
#pragma once

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Repeat(const Operand& x, DimList repeats);  // The whole, so often in each dimension.
Tensor Tile(const Operand& x, DimList repeats);    // The same; missing repeats are 1.
// Each element so often, one after another; without a dimension, of the flattened tensor.
Tensor RepeatInterleave(const Operand& x, int64_t repeats, std::optional<int64_t> dim = {});
// Each slice so often as its own number says; one number stands for all. The result's size is read, unless it
// is given.
Tensor RepeatInterleave(const Operand& x, const Tensor& repeats, std::optional<int64_t> dim = {},
                        std::optional<int64_t> output_size = {});
// Moved by `shifts` along `dims`, those that fall out coming in at the other end; without dims, flattened.
Tensor Roll(const Operand& x, DimList shifts, DimList dims = {});
Tensor Flip(const Operand& x, DimList dims);
Tensor Fliplr(const Operand& x);  // Dimension 1.
Tensor Flipud(const Operand& x);  // Dimension 0.
// Turned by 90 degrees `k` times in the plane of two dimensions, from the first to the second.
Tensor Rot90(const Operand& x, int64_t k = 1, DimList dims = {0, 1});

// The part of matrices on and below (above) a diagonal; zeros elsewhere.
Tensor Tril(const Operand& x, int64_t diagonal = 0);
Tensor Triu(const Operand& x, int64_t diagonal = 0);
Tensor Diag(const Operand& x, int64_t diagonal = 0);  // A vector's matrix, or a matrix's diagonal.
// The last dimension as the diagonals of new matrices.
Tensor DiagEmbed(const Operand& x, int64_t offset = 0, int64_t dim1 = -2, int64_t dim2 = -1);
Tensor Diagflat(const Operand& x, int64_t offset = 0);  // All elements as one matrix's diagonal.

// A copy of x with a part replaced by `source`, which has the part's shape.
Tensor DiagonalScatter(const Operand& x, const Operand& source, int64_t offset = 0, int64_t dim1 = 0,
                       int64_t dim2 = 1);
Tensor SelectScatter(const Operand& x, const Operand& source, int64_t dim, int64_t index);
Tensor SliceScatter(const Operand& x, const Operand& source, int64_t dim = 0,
                    std::optional<int64_t> start = {}, std::optional<int64_t> end = {}, int64_t step = 1);
Tensor AsStridedScatter(const Operand& x, const Operand& source, DimList dims, DimList strides,
                        std::optional<int64_t> offset = {});

enum class PadMode { kConstant, kReflect, kReplicate, kCircular };
// nn.functional.pad: `padding` is (low, high) of the last dimension, then of the one before, ... Negative
// amounts cut off.
Tensor Pad(const Operand& x, DimList padding, PadMode mode = PadMode::kConstant, Scalar value = 0);

// [..., C r r, H, W] as [..., C, H r, W r], and back.
Tensor PixelShuffle(const Operand& x, int64_t factor);
Tensor PixelUnshuffle(const Operand& x, int64_t factor);

// nn.functional.unfold: the windows of [N, C, H, W] as the columns of [N, C kh kw, L]; and the sum of such
// columns back in their places.
struct UnfoldOptions {
  Sizes dilation = 1, padding = 0, stride = 1;
};
Tensor Unfold(const Operand& x, Sizes kernel, UnfoldOptions options = {});
Tensor Fold(const Operand& x, Sizes output, Sizes kernel, UnfoldOptions options = {});

}  // namespace hlod
