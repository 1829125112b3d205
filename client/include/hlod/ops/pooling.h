// Pooling over the last dimensions of [batch, channels, ...]; the batch may be missing.
#pragma once

#include <optional>

#include "hlod/ops/sizes.h"
#include "hlod/tensor.h"

namespace hlod {

struct MaxPoolOptions {
  std::optional<Sizes> stride = {};  // The kernel size.
  Sizes padding = 0, dilation = 1;
  bool ceil_mode = false;  // Windows that go past the end count, when they begin inside.
};
Tensor MaxPool1d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool2d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});
Tensor MaxPool3d(const Operand& x, Sizes kernel, MaxPoolOptions options = {});

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

// The means of `output` parts of each dimension, of nearly equal sizes.
Tensor AdaptiveAvgPool1d(const Operand& x, Sizes output);
Tensor AdaptiveAvgPool2d(const Operand& x, Sizes output);

}  // namespace hlod
