// A line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, algorithms 3.5
// and 3.6), with the choices of PyTorch's LBFGS: cubic interpolation and its test of progress.
#pragma once

#include <cstdint>
#include <functional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// A point that the search has evaluated: the step along the direction, the loss there, the gradient, and the
// slope, which is the gradient's product with the direction.
struct LinePoint {
  double step = 0, loss = 0, slope = 0;
  Tensor gradient;
};

struct LineSearch {
  LinePoint best;
  int64_t evaluations = 0;
};

// Searches from `start`, whose step is 0, and tries `step` first. `look` evaluates the point at a step.
// `largest` is the largest magnitude of the direction's elements.
LineSearch SearchLine(const std::function<LinePoint(double step)>& look, const LinePoint& start, double step,
                      double largest);

}  // namespace hlod
