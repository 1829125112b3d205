// Pooling over the last dimensions of [batch, channels, ...]; the batch may be missing.
#pragma once

#include <optional>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

struct MaxPoolOptions {
  std::optional<Sizes> stride = {};  // The kernel size.
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;  // Windows that go past the end count, when they begin inside.
};
Tensor MaxPool1d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool2d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool3d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
// With the places of the maxima in the flattened spatial dimensions (PyTorch's return_indices).
ValuesAndIndices MaxPool1dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
ValuesAndIndices MaxPool2dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
ValuesAndIndices MaxPool3dWithIndices(const Operand& x, Sizes kernel, MaxPoolOptions options = {});

// Maxima of `output` windows of each dimension at steps chosen at random (fractional max pooling,
// arXiv:1412.6071), and their places. The choice is a number in [0, 1) for each dimension of each plane:
// [batch, channels, 2 or 3], which is drawn when it is not given.
ValuesAndIndices FractionalMaxPool2d(const Operand& x, Sizes kernel, Sizes output,
                                     const Tensor& samples = {});
ValuesAndIndices FractionalMaxPool3d(const Operand& x, Sizes kernel, Sizes output,
                                     const Tensor& samples = {});

struct MaxUnpoolOptions {
  std::optional<Sizes> stride = {};  // The kernel size.
  Sizes padding = 0;
  Dims output_size = {};  // The spatial or all sizes; empty: the least that the windows cover.
};
// Elements at the places that max pooling gave, zeros elsewhere.
Tensor MaxUnpool1d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});
Tensor MaxUnpool2d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});
Tensor MaxUnpool3d(const Operand& x, const Operand& indices, Sizes kernel, MaxUnpoolOptions options = {});

struct AvgPoolOptions {
  std::optional<Sizes> stride = {};  // The kernel size.
  Sizes padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;  // Padding counts as elements of value 0.
  std::optional<int64_t> divisor = {};
};
Tensor AvgPool1d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});
Tensor AvgPool2d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});
Tensor AvgPool3d(const Operand& x, Sizes kernel, AvgPoolOptions options = {});

// The p-th root of the sum of p-th powers of each window.
struct LpPoolOptions {
  std::optional<Sizes> stride = {};  // The kernel size.
  bool ceil_mode = false;
};
Tensor LpPool1d(const Operand& x, double order, Sizes kernel, LpPoolOptions options = {});
Tensor LpPool2d(const Operand& x, double order, Sizes kernel, LpPoolOptions options = {});

// The means, and the maxima with their places, of `output` parts of each dimension, of nearly equal sizes; -1
// keeps the size of the dimension.
Tensor AdaptiveAvgPool1d(const Operand& x, Sizes output);
Tensor AdaptiveAvgPool2d(const Operand& x, Sizes output);
Tensor AdaptiveAvgPool3d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool1d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool2d(const Operand& x, Sizes output);
ValuesAndIndices AdaptiveMaxPool3d(const Operand& x, Sizes output);

}  // namespace hlod
