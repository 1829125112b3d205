// torch.nn.init: initial values of parameters, in place and outside of what derivatives see. Each returns its
// argument.
//
//   nn::init::KaimingNormal_(conv.weight, {.mode = nn::init::Fan::kOut});
//
// A weight has [out, in, window ...]: its fan in is `in` times the window's size, its fan out `out` times
// that. What needs fans throws for a tensor of fewer than two dimensions. Random numbers are of the generator
// in the tensor's place.
#pragma once

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn::init {

// The nonlinearity that follows the parameter; its values are scaled for it.
enum class Nonlinearity { kLinear, kSigmoid, kTanh, kRelu, kLeakyRelu, kSelu };
// torch.nn.init.calculate_gain; `param` is a leaky relu's slope.
double CalculateGain(Nonlinearity nonlinearity, double param = 0.01);

Tensor& Uniform_(Tensor& x, double from = 0, double to = 1, Caller caller = Caller::Here());
Tensor& Normal_(Tensor& x, double mean = 0, double std = 1, Caller caller = Caller::Here());
// A normal distribution, drawn again outside [low, high]; the bounds are values, not deviations.
Tensor& TruncNormal_(Tensor& x, double mean = 0, double std = 1, double low = -2, double high = 2,
                     Caller caller = Caller::Here());
Tensor& Constant_(Tensor& x, double value, Caller caller = Caller::Here());
Tensor& Ones_(Tensor& x, Caller caller = Caller::Here());
Tensor& Zeros_(Tensor& x, Caller caller = Caller::Here());
// The identity; of two dimensions.
Tensor& Eye_(Tensor& x, Caller caller = Caller::Here());
// A convolution that keeps its channels, in each group; of three to five dimensions.
Tensor& Dirac_(Tensor& x, int64_t groups = 1, Caller caller = Caller::Here());

// Glorot and Bengio 2010: uniform within gain sqrt(6 / (fan in + fan out)); of deviation gain sqrt(2 / (fan
// in + fan out)).
Tensor& XavierUniform_(Tensor& x, double gain = 1, Caller caller = Caller::Here());
Tensor& XavierNormal_(Tensor& x, double gain = 1, Caller caller = Caller::Here());

enum class Fan { kIn, kOut };
struct KaimingOptions {
  double a = 0;  // The slope of the leaky relu that follows.
  Fan mode = Fan::kIn;
  Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu;
};
// He et al. 2015: uniform within gain sqrt(3 / fan); of deviation gain / sqrt(fan).
Tensor& KaimingUniform_(Tensor& x, const KaimingOptions& options = {}, Caller caller = Caller::Here());
Tensor& KaimingNormal_(Tensor& x, const KaimingOptions& options = {}, Caller caller = Caller::Here());

// Saxe et al. 2013: rows, or columns when there are fewer of them, that are orthogonal and of norm `gain`.
// Dimensions behind the first count as one.
Tensor& Orthogonal_(Tensor& x, double gain = 1, Caller caller = Caller::Here());
// Martens 2010: normal, with that part of each column zero; of two dimensions.
Tensor& Sparse_(Tensor& x, double sparsity, double std = 0.01, Caller caller = Caller::Here());

}  // namespace hlod::nn::init
