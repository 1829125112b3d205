// Pooling over the last dimensions of [batch, channels, ...]; the batch may be missing.
#pragma once

#include <optional>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct MaxPoolOptions {
  std::optional<Sizes> stride = {};  // nullopt: the kernel size.
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;  // Includes windows that begin inside and reach beyond the end.
};
Tensor MaxPool1d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool2d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool3d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
// Also returns the positions of the maxima in the flattened spatial dimensions (PyTorch's return_indices).
ValuesAndIndices MaxPool1dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
ValuesAndIndices MaxPool2dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
ValuesAndIndices MaxPool3dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});

// Fractional max pooling (arXiv:1412.6071): the maxima of `output` windows per dimension, at pseudo-random
// steps, and their positions. The steps follow from a number in [0, 1) per dimension of each plane, [batch,
// channels, 2 or 3], which is drawn unless it is passed.
ValuesAndIndices FractionalMaxPool2d(const Operand& x, Sizes kernel, Sizes output,
                                     const Tensor& samples = {});
ValuesAndIndices FractionalMaxPool3d(const Operand& x, Sizes kernel, Sizes output,
                                     const Tensor& samples = {});

struct MaxUnpoolOptions {
  std::optional<Sizes> stride = {};  // nullopt: the kernel size.
  Sizes padding = 0;
  Dims output_size = {};  // The spatial sizes, or all sizes; empty: the smallest that the windows cover.
};
// Puts elements at the positions that max pooling returned; zeros elsewhere.
Tensor MaxUnpool1d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});
Tensor MaxUnpool2d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});
Tensor MaxUnpool3d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});

struct AvgPoolOptions {
  std::optional<Sizes> stride = {};  // nullopt: the kernel size.
  Sizes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  // Includes the padding in the mean, as zeros.
  std::optional<int64_t> divisor = {};
};
Tensor AvgPool1d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});
Tensor AvgPool2d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});
Tensor AvgPool3d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});

// The p-th root of the sum of p-th powers of each window.
struct LpPoolOptions {
  std::optional<Sizes> stride = {};  // nullopt: the kernel size.
  bool ceil_mode = false;
};
Tensor LpPool1d(const Operand& x, double order, Sizes kernel, LpPoolOptions options = {});
Tensor LpPool2d(const Operand& x, double order, Sizes kernel, LpPoolOptions options = {});

// The means (or the maxima with their positions) of `output` parts of each dimension, of nearly equal sizes;
// -1 keeps the dimension's size.
Tensor AdaptiveAvgPool1d(const Operand& x, Sizes output);
Tensor AdaptiveAvgPool2d(const Operand& x, Sizes output);
Tensor AdaptiveAvgPool3d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool1d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool2d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool3d(const Operand& x, Sizes output);

}  // namespace hlod
