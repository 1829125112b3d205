// Convolutions over the dimensions after [batch, channels]; the batch may be missing.
#pragma once

#include <string_view>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/tensor.h"

namespace hlod {

// Zeros around the input: N on both sides of a dimension, or "valid" (none), or "same" (as many as keep the
// size; only for strides of 1).
class Padding : public Sizes {
 public:
  using Sizes::Sizes;
  Padding(const char* rule) : Sizes(0), rule_(rule) {}  // NOLINT: implicit.
  std::string_view rule() const { return rule_; }

 private:
  std::string_view rule_;
};

struct ConvOptions {
  Sizes stride = 1;
  Padding padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
};
// The weight is [out channels, in channels / groups, kernel...], the bias [out channels]. A size n becomes
// (n + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down.
Tensor Conv1d(const Operand& x, const Operand& weight, const Tensor& bias = {}, ConvOptions options = {});
Tensor Conv2d(const Operand& x, const Operand& weight, const Tensor& bias = {}, ConvOptions options = {});
Tensor Conv3d(const Operand& x, const Operand& weight, const Tensor& bias = {}, ConvOptions options = {});

// A convolution over the first dimension of [time, batch, channels], with `padding` zeros on both sides: the
// weight is [kernel, in channels, out channels], the bias [out channels].
Tensor ConvTbc(const Operand& x, const Operand& weight, const Tensor& bias, int64_t padding = 0);

struct ConvTransposeOptions {
  Sizes stride = 1, padding = 0, output_padding = 0;
  int64_t groups = 1;
  Sizes dilation = 1;
};
// The weight is [in channels, out channels / groups, kernel...]. A size n becomes
// (n - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
Tensor ConvTranspose1d(const Operand& x, const Operand& weight, const Tensor& bias = {},
                       ConvTransposeOptions options = {});
Tensor ConvTranspose2d(const Operand& x, const Operand& weight, const Tensor& bias = {},
                       ConvTransposeOptions options = {});
Tensor ConvTranspose3d(const Operand& x, const Operand& weight, const Tensor& bias = {},
                       ConvTransposeOptions options = {});

}  // namespace hlod
