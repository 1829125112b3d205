// Random numbers from explicit keys, as jax.random has them: equal keys give equal numbers, wherever and
// whenever. Use a key only once; Split() and FoldIn() derive other keys from it. The algorithm is
// Threefry-2x32 with 20 rounds (Salmon et al. 2011) over the flat positions of elements, as JAX's default
// (jax_threefry_partitionable): keys and bits are JAX's, and numbers are within the rounding of logarithms
// and of the inverse error function.
//
//   Tensor key = random::Key(0);                     // u32[2], as jax.random.key_data(jax.random.key(0))
//   std::vector<Tensor> keys = Unbind(random::Split(key, 2));
//   Tensor x = random::Normal(keys[0], {3, 4});
#pragma once

#include <optional>

#include "hlod/ops/creation.h"

namespace hlod::random {

Tensor Key(uint64_t seed, std::optional<Device> device = {}, Caller caller = Caller::Here());
// [count, 2]: keys derived from `key`.
Tensor Split(const Operand& key, int64_t count = 2);
// A key derived from `key` and an integer: a number or a scalar tensor, of which the low 32 bits count.
Tensor FoldIn(const Operand& key, const Operand& data);

// Bits as unsigned integers: u8, u16, u32 or u64.
Tensor Bits(const Operand& key, DimList dims, PrimitiveType type = kU32);
// Uniform in [low, high). This and the following functions take f32 or f64.
Tensor Uniform(const Operand& key, DimList dims, double low = 0, double high = 1, PrimitiveType type = kF32);
Tensor Normal(const Operand& key, DimList dims, PrimitiveType type = kF32);
// Normal, conditioned to lie between low and high.
Tensor TruncatedNormal(const Operand& key, DimList dims, double low, double high, PrimitiveType type = kF32);
Tensor Exponential(const Operand& key, DimList dims, PrimitiveType type = kF32);
Tensor Gumbel(const Operand& key, DimList dims, PrimitiveType type = kF32);
// Integers from low to high - 1, of s32 or s64.
Tensor Randint(const Operand& key, DimList dims, int64_t low, int64_t high, PrimitiveType type = kS32);
// True with the probability p, a number or a tensor of `dims`.
Tensor Bernoulli(const Operand& key, const Operand& p, DimList dims);
// Draws classes (s64) along the last dimension by unnormalised log probabilities.
Tensor Categorical(const Operand& key, const Operand& logits);

// Distributions of parameters that are numbers or tensors, which broadcast to `dims`, or to one another
// without it. They have no gradient.
// Gamma variates of the concentration a, which is positive, and rate 1; LogGamma() has their logarithm, which
// is exact for small concentrations, too.
Tensor Gamma(const Operand& key, const Operand& a, const std::optional<Dims>& dims = {},
             PrimitiveType type = kF32);
Tensor LogGamma(const Operand& key, const Operand& a, const std::optional<Dims>& dims = {},
                PrimitiveType type = kF32);
Tensor Beta(const Operand& key, const Operand& a, const Operand& b, const std::optional<Dims>& dims = {},
            PrimitiveType type = kF32);
// [dims..., n] with rows that sum to 1; alpha is [..., n].
Tensor Dirichlet(const Operand& key, const Operand& alpha, const std::optional<Dims>& dims = {},
                 PrimitiveType type = kF32);
// Counts of s32 or s64, of a rate that is at least 0; -1 for NaN and infinity.
Tensor Poisson(const Operand& key, const Operand& rate, const std::optional<Dims>& dims = {},
               PrimitiveType type = kS32);

// 0 to n - 1 in random order, s64; or x with its slices along `dim` in random order. `independent`: each
// vector along `dim` has an order of its own.
Tensor Permutation(const Operand& key, int64_t n);
Tensor Permutation(const Operand& key, const Tensor& x, int64_t dim = 0, bool independent = false);

struct ChoiceOptions {
  bool replace = true;  // An element may be taken again.
  Tensor p = {};        // The probability of each, f32 or f64; undefined: all are equal.
  int64_t dim = 0;      // The dimension of x whose slices are chosen among.
};
// Elements of 0 to n - 1, s64; or slices of x, whose dimension `dim` is replaced by `dims`.
Tensor Choice(const Operand& key, int64_t n, DimList dims = {}, const ChoiceOptions& options = {});
Tensor Choice(const Operand& key, const Tensor& x, DimList dims = {}, const ChoiceOptions& options = {});

}  // namespace hlod::random
