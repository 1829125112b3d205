// Normalisation. An undefined weight, bias or statistic is left out.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// Over the last dimensions, whose sizes are `shape`.
Tensor LayerNorm(const Operand& x, DimList shape, const Tensor& weight = {}, const Tensor& bias = {},
                 double eps = 1e-5);
// x / sqrt(mean(x x) + eps) over the last dimensions.
Tensor RmsNorm(const Operand& x, DimList shape, const Tensor& weight = {}, double eps = 1e-6);
// Over each of `groups` groups of channels (dimension 1) of each example.
Tensor GroupNorm(const Operand& x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                 double eps = 1e-5);
// Over all dimensions but the channels. In training by the batch's own statistics, with which the running
// ones are updated in place: running = (1 - momentum) running + momentum batch; else by the running ones.
Tensor BatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                 double momentum = 0.1, double eps = 1e-5);
// GroupNorm with a group for each channel.
Tensor InstanceNorm(const Operand& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
// The same; the running statistics follow those of the examples, or are used in their place.
Tensor InstanceNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                    const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum = 0.1,
                    double eps = 1e-5);
// x / (k + alpha s) ^ beta, s being the mean square of `size` neighbouring channels, those beyond the end
// being 0.
Tensor LocalResponseNorm(const Operand& x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                         double k = 1);

// With the mean and 1 / sqrt(variance + eps) that it was normalised by: of the batch norm that does not
// train, none (no elements).
struct NormalizationResult {
  Tensor output, mean, rstd;
};
NormalizationResult NativeLayerNorm(const Operand& x, DimList shape, const Tensor& weight = {},
                                    const Tensor& bias = {}, double eps = 1e-5);
NormalizationResult NativeBatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                                    const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                                    double momentum = 0.1, double eps = 1e-5);

}  // namespace hlod
