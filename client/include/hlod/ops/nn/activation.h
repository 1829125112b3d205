// Activations of neural networks.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Relu6(const Operand& x);        // min(max(x, 0), 6)
Tensor Selu(const Operand& x);         // The self-normalising exponential linear unit.
Tensor Silu(const Operand& x);         // x sigmoid(x)
Tensor Mish(const Operand& x);         // x tanh(softplus(x))
Tensor Softsign(const Operand& x);     // x / (1 + abs(x))
Tensor Hardsigmoid(const Operand& x);  // relu6(x + 3) / 6
Tensor Hardswish(const Operand& x);    // x relu6(x + 3) / 6
Tensor Tanhshrink(const Operand& x);   // x - tanh(x)
Tensor Logsigmoid(const Operand& x);   // log(sigmoid(x))
Tensor LeakyRelu(const Operand& x, double negative_slope = 0.01);  // x above 0, negative_slope x below.
// x where it is positive, else x times a slope: while training a random one per element, otherwise the mean
// of the bounds.
Tensor Rrelu(const Operand& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false);
Tensor Elu(const Operand& x, double alpha = 1);   // x above 0, alpha (exp(x) - 1) below.
Tensor Celu(const Operand& x, double alpha = 1);  // x above 0, alpha (exp(x / alpha) - 1) below.
// x times the normal distribution at x: by the error function (kNone), or approximated by a tanh (kTanh).
enum class GeluApproximation { kNone, kTanh };
Tensor Gelu(const Operand& x, GeluApproximation approximation = GeluApproximation::kNone);
Tensor Softplus(const Operand& x, double beta = 1, double threshold = 20);  // log(1 + exp(beta x)) / beta
Tensor Hardtanh(const Operand& x, double min = -1, double max = 1);         // x clamped to [min, max].
Tensor Hardshrink(const Operand& x, double lambda = 0.5);  // 0 within [-lambda, lambda], x elsewhere.
// x moved towards 0 by lambda; 0 within [-lambda, lambda].
Tensor Softshrink(const Operand& x, double lambda = 0.5);
// x where it is above the threshold, else `value`.
Tensor Threshold(const Operand& x, Scalar threshold, Scalar value);
Tensor Prelu(const Operand& x, const Operand& weight);  // x above 0, weight x below.
// The first half of a dimension times the sigmoid of the second half.
Tensor Glu(const Operand& x, int64_t dim = -1);

}  // namespace hlod
