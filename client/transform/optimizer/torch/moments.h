// Transformations with PyTorch's arithmetic where it differs from Optax's: in the place where eps is added,
// and in the correction for bias. Their parameters are real: complex ones are passed as pairs of real
// numbers.
#pragma once

#include "client/transform/optimizer/transformation.h"

namespace hlod::optim {

// Returns AddDecayedWeights(), or a link without effect when the decay is 0.
Optimizer DecayedIf(double weight_decay);
// The update is the buffer, which is the gradient at the first step, then momentum * buffer + (1 - dampening)
// * gradient.
Optimizer DampenedTrace(double momentum, double dampening);
// Adam with bias corrections in f64. `amsgrad` divides by the largest second moment so far, compared before
// correction.
Optimizer ScaleByTorchAdam(double b1, double b2, double eps, bool amsgrad);
// The update is gradient / (root of the moving average of squares + eps); if centered, the root of the
// variance is used.
Optimizer ScaleByRootMeanSquare(double alpha, double eps, bool centered);
// The update is gradient / (root of the sum of squares + eps) / (1 + earlier steps * decay).
Optimizer ScaleBySumOfSquares(double initial, double eps, double decay);

}  // namespace hlod::optim
