// Weights that interpolations share.
#pragma once

#include <array>

namespace hlod::lazy {

// Returns the weights of the elements at -1, 0, 1 and 2 for a point at t in [0, 1): cubic convolution with a
// = -0.75.
std::array<double, 4> CubicWeights(double t);

}  // namespace hlod::lazy
