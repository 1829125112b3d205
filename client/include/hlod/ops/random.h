// Random tensors. Random numbers are a function of the device's seed (ManualSeed) and of how many were drawn
// there before: where a trace is cut, and on which thread, does not change them.
#pragma once

#include <optional>

#include "hlod/ops/creation.h"

namespace hlod {

// Uniform in [0, 1).
Tensor Rand(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Normal, mean 0 and variance 1.
Tensor Randn(DimList dims, TensorOptions options = {}, Caller caller = Caller::Here());
// Uniform in [low, high): what layers are initialised with.
Tensor Uniform(DimList dims, double low, double high, TensorOptions options = {},
               Caller caller = Caller::Here());
// Integers from low to high - 1.
Tensor Randint(int64_t low, int64_t high, DimList dims, TensorOptions options = {},
               Caller caller = Caller::Here());
// 0 to n - 1 in random order.
Tensor Randperm(int64_t n, TensorOptions options = {}, Caller caller = Caller::Here());

// With x's shape, and its type and device unless the options say others.
Tensor RandLike(const Operand& x, LikeOptions options = {});
Tensor RandnLike(const Operand& x, LikeOptions options = {});
Tensor RandintLike(const Operand& x, int64_t low, int64_t high, LikeOptions options = {});

// 1 with the probability that stands in p, else 0; of p's type. What is not between 0 and 1 counts as the
// nearer of both, NaN as 0.
Tensor Bernoulli(const Operand& p);
Tensor Bernoulli(const Operand& x, double p);  // Of x's shape and type.
// Normal; mean and standard deviation are numbers or tensors, at least one of them a tensor.
Tensor Normal(const Operand& mean, const Operand& deviation);
Tensor Normal(double mean, double deviation, DimList dims, TensorOptions options = {},
              Caller caller = Caller::Here());
// Of each row of weights, `count` positions drawn in proportion to them. Without replacement none is drawn
// twice; when fewer weights are positive, positions of weight 0 follow.
Tensor Multinomial(const Operand& weights, int64_t count, bool replacement = false);

}  // namespace hlod
