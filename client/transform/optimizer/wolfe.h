// A line search to the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, algorithms 3.5
// and 3.6), with the choices of PyTorch's LBFGS: cubic interpolation, and what counts as progress.
#pragma once

#include <cstdint>
#include <functional>

#include "hlod/tensor/tensor.h"

namespace hlod {

// Where the search has looked: the step along the direction, the loss, the gradient and its product with the
// direction, which is the slope.
struct LinePoint {
  double step = 0, loss = 0, slope = 0;
  Tensor gradient;
};

struct LineSearch {
  LinePoint best;
  int64_t evaluations = 0;
};

// Searches from `start`, whose step is 0, first at `step`. `look` evaluates at a step; `largest` is the
// largest magnitude of the direction's elements.
LineSearch SearchLine(const std::function<LinePoint(double step)>& look, const LinePoint& start, double step,
                      double largest);

}  // namespace hlod
