// The functions of hlod::random (hlod/ops/random_key.h) as operations, by which errors and traces name them.
#pragma once

#include "client/tensor/dispatch/operation.h"

namespace hlod::random {
namespace ops {

#define HLOD_KEY_OPERATION(name, jax) \
  inline constexpr lazy::Operation name = {#name, jax, lazy::Promotion::kNone, "random numbers from a key"};
HLOD_KEY_OPERATION(Split, "random.split")
HLOD_KEY_OPERATION(FoldIn, "random.fold_in")
HLOD_KEY_OPERATION(Bits, "random.bits")
HLOD_KEY_OPERATION(Uniform, "random.uniform")
HLOD_KEY_OPERATION(Normal, "random.normal")
HLOD_KEY_OPERATION(TruncatedNormal, "random.truncated_normal")
HLOD_KEY_OPERATION(Exponential, "random.exponential")
HLOD_KEY_OPERATION(Gumbel, "random.gumbel")
HLOD_KEY_OPERATION(Randint, "random.randint")
HLOD_KEY_OPERATION(Bernoulli, "random.bernoulli")
HLOD_KEY_OPERATION(Categorical, "random.categorical")
HLOD_KEY_OPERATION(Gamma, "random.gamma")
HLOD_KEY_OPERATION(LogGamma, "random.loggamma")
HLOD_KEY_OPERATION(Beta, "random.beta")
HLOD_KEY_OPERATION(Dirichlet, "random.dirichlet")
HLOD_KEY_OPERATION(Poisson, "random.poisson")
HLOD_KEY_OPERATION(Permutation, "random.permutation")
HLOD_KEY_OPERATION(Choice, "random.choice")
#undef HLOD_KEY_OPERATION

}  // namespace ops
}  // namespace hlod::random
