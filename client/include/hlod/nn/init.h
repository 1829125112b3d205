// torch.nn.init: initial values of parameters, written in place and not recorded for derivatives. Each
// function returns its argument.
//
//   nn::init::KaimingNormal_(conv.weight, {.mode = nn::init::Fan::kOut});
//
// A weight has the shape [out, in, window ...]. Its fan in is `in` times the window's size, its fan out is
// `out` times the window's size. Functions that need the fans throw for a tensor of fewer than two
// dimensions. Random numbers come from the generator of the tensor's device.
#pragma once

#include "hlod/runtime/caller.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn::init {

// The nonlinearity that follows the parameter, and for which its values are scaled.
enum class Nonlinearity { kLinear, kSigmoid, kTanh, kRelu, kLeakyRelu, kSelu };
// torch.nn.init.calculate_gain; `param` is the slope of a leaky relu.
double CalculateGain(Nonlinearity nonlinearity, double param = 0.01);

Tensor& Uniform_(Tensor& x, double from = 0, double to = 1, Caller caller = Caller::Here());
Tensor& Normal_(Tensor& x, double mean = 0, double std = 1, Caller caller = Caller::Here());
// A normal distribution in which values outside [low, high] are drawn again; the bounds are values, not
// multiples of the deviation.
Tensor& TruncNormal_(Tensor& x, double mean = 0, double std = 1, double low = -2, double high = 2,
                     Caller caller = Caller::Here());
Tensor& Constant_(Tensor& x, double value, Caller caller = Caller::Here());
Tensor& Ones_(Tensor& x, Caller caller = Caller::Here());
Tensor& Zeros_(Tensor& x, Caller caller = Caller::Here());
// The identity matrix; x must have two dimensions.
Tensor& Eye_(Tensor& x, Caller caller = Caller::Here());
// The weight of a convolution that copies its input channels, in each group; x must have three to five
// dimensions.
Tensor& Dirac_(Tensor& x, int64_t groups = 1, Caller caller = Caller::Here());

// Glorot and Bengio 2010: uniform within gain sqrt(6 / (fan in + fan out)), or normal with deviation gain
// sqrt(2 / (fan in + fan out)).
Tensor& XavierUniform_(Tensor& x, double gain = 1, Caller caller = Caller::Here());
Tensor& XavierNormal_(Tensor& x, double gain = 1, Caller caller = Caller::Here());

enum class Fan { kIn, kOut };
struct KaimingOptions {
  double a = 0;  // The slope of the leaky relu that follows.
  Fan mode = Fan::kIn;
  Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu;
};
// He et al. 2015: uniform within gain sqrt(3 / fan), or normal with deviation gain / sqrt(fan).
Tensor& KaimingUniform_(Tensor& x, const KaimingOptions& options = {}, Caller caller = Caller::Here());
Tensor& KaimingNormal_(Tensor& x, const KaimingOptions& options = {}, Caller caller = Caller::Here());

// Saxe et al. 2013: orthogonal rows (or columns, when there are fewer of them) of norm `gain`. Dimensions
// after the first are treated as one.
Tensor& Orthogonal_(Tensor& x, double gain = 1, Caller caller = Caller::Here());
// Martens 2010: normal, with the fraction `sparsity` of each column set to zero; x must have two dimensions.
Tensor& Sparse_(Tensor& x, double sparsity, double std = 0.01, Caller caller = Caller::Here());

}  // namespace hlod::nn::init
