// Functions of Optax around gradients: a factor for those that pass a point, and normal distributions whose
// parameters are learned.
#pragma once

#include <vector>

#include "hlod/ops/sizes.h"
#include "hlod/tensor/operand.h"
#include "hlod/tensor/tensor.h"
#include "hlod/transform/tree.h"

namespace hlod::optim {

// Returns the leaves; the gradients that come back through them are multiplied by `scale`. 0 stops them. Has
// no forward mode.
std::vector<Tensor> WithScaledGradients(const std::vector<Tensor>& leaves, double scale);
// Does the same for a tree. optax.scale_gradient.
template <typename T>
T ScaleGradient(const T& inputs, double scale, Caller caller = Caller::Here()) {
  const CallerScope scope(caller);
  return WithLeaves(inputs, WithScaledGradients(Leaves(inputs), scale));
}

// Independent normal distributions of the means `loc` and the standard deviations exp(log_scale), which
// broadcast. It is a tree, so gradients can be taken of both. optax.multi_normal.
struct MultiNormal {
  Tensor loc, log_scale;

  // Returns [dims..., those of the parameters] drawn by a key of random::Key().
  Tensor Sample(const Dims& dims, const Operand& key) const;
  // Returns the logarithm of the density at x, summed over the parameters' dimensions.
  Tensor LogProb(const Operand& x) const;
};

}  // namespace hlod::optim
