// Links whose arithmetic is PyTorch's where Optax's differs: where eps is added, what is corrected for bias.
// They are of real parameters: complex ones come as pairs of real numbers.
#pragma once

#include "client/transform/optimizer/transformation.h"

namespace hlod::optim {

// AddDecayedWeights(), as a link that does nothing where the decay is 0.
Optimizer DecayedIf(double weight_decay);
// buffer = gradient at the first step, then momentum * buffer + (1 - dampening) * gradient.
Optimizer DampenedTrace(double momentum, double dampening);
// Adam with corrections for bias in f64; `amsgrad`: over the largest second moment so far, before correction.
Optimizer ScaleByTorchAdam(double b1, double b2, double eps, bool amsgrad);
// gradient / (root of the moving average of squares + eps); centered: of the variance.
Optimizer ScaleByRootMeanSquare(double alpha, double eps, bool centered);
// gradient / (root of the sum of squares + eps) / (1 + steps before * decay).
Optimizer ScaleBySumOfSquares(double initial, double eps, double decay);

}  // namespace hlod::optim
