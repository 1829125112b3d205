// Activations of neural networks.
#pragma once

#include "hlod/tensor/tensor.h"

namespace hlod {

Tensor Relu6(const Operand& x);        // min(max(x, 0), 6)
Tensor Selu(const Operand& x);         // the self-normalising exponential linear unit
Tensor Silu(const Operand& x);         // x sigmoid(x)
Tensor Mish(const Operand& x);         // x tanh(softplus(x))
Tensor Softsign(const Operand& x);     // x / (1 + abs(x))
Tensor Hardsigmoid(const Operand& x);  // relu6(x + 3) / 6
Tensor Hardswish(const Operand& x);    // x relu6(x + 3) / 6
Tensor Tanhshrink(const Operand& x);   // x - tanh(x)
Tensor Logsigmoid(const Operand& x);   // log(sigmoid(x))
Tensor LeakyRelu(const Operand& x, double negative_slope = 0.01);
// x, times a slope below 0 that is drawn for each element in training; else the middle of the bounds.
Tensor Rrelu(const Operand& x, double lower = 1.0 / 8, double upper = 1.0 / 3, bool training = false);
Tensor Elu(const Operand& x, double alpha = 1);   // alpha (exp(x) - 1) below 0
Tensor Celu(const Operand& x, double alpha = 1);  // alpha (exp(x / alpha) - 1) below 0
enum class GeluApproximation { kNone, kTanh };
Tensor Gelu(const Operand& x, GeluApproximation approximation = GeluApproximation::kNone);
Tensor Softplus(const Operand& x, double beta = 1, double threshold = 20);  // log(1 + exp(beta x)) / beta
Tensor Hardtanh(const Operand& x, double min = -1, double max = 1);
Tensor Hardshrink(const Operand& x, double lambda = 0.5);            // 0 within lambda of 0
Tensor Softshrink(const Operand& x, double lambda = 0.5);            // nearer to 0 by lambda
Tensor Threshold(const Operand& x, Scalar threshold, Scalar value);  // x above the threshold, else the value
Tensor Prelu(const Operand& x, const Operand& weight);               // weight x below 0
Tensor Glu(const Operand& x, int64_t dim = -1);  // The first half times the sigmoid of the second.

}  // namespace hlod
