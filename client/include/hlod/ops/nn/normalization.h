// Normalisation. An undefined weight, bias or statistic is not applied.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

// Normalises over the last dimensions, whose sizes are `shape`.
Tensor LayerNorm(const Operand& x, DimList shape, const Tensor& weight = {}, const Tensor& bias = {},
                 double eps = 1e-5);
// x / sqrt(mean(x x) + eps) over the last dimensions.
Tensor RmsNorm(const Operand& x, DimList shape, const Tensor& weight = {}, double eps = 1e-6);
// Normalises over each of `groups` groups of channels (dimension 1) of each example.
Tensor GroupNorm(const Operand& x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                 double eps = 1e-5);
// Normalises over all dimensions except the channels. In training it uses the batch's own statistics, and
// updates the running ones in place: running = (1 - momentum) running + momentum batch. Otherwise it uses the
// running ones.
Tensor BatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                 const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                 double momentum = 0.1, double eps = 1e-5);
// GroupNorm with a group for each channel.
Tensor InstanceNorm(const Operand& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
// Like InstanceNorm above; it also updates the running statistics, or uses them in place of the examples'.
Tensor InstanceNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                    const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum = 0.1,
                    double eps = 1e-5);
// x / (k + alpha s)^beta, where s is the mean square of `size` neighbouring channels; channels beyond the
// ends count as 0.
Tensor LocalResponseNorm(const Operand& x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                         double k = 1);

// A normalised tensor, with the mean and 1 / sqrt(variance + eps) that were used; these have no elements for
// a batch norm outside training.
struct NormalizationResult {
  Tensor output, mean, rstd;
};
NormalizationResult NativeLayerNorm(const Operand& x, DimList shape, const Tensor& weight = {},
                                    const Tensor& bias = {}, double eps = 1e-5);
NormalizationResult NativeBatchNorm(const Operand& x, const Tensor& running_mean, const Tensor& running_var,
                                    const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                                    double momentum = 0.1, double eps = 1e-5);

}  // namespace hlod
