// The walk over the positions of a convolution's kernel at one place of the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/engine/contraction/convolution.h"

namespace hlod::engine {

// The elements that a position of the kernel multiplies. Offsets are in elements.
struct Tap {
  bool inside;  // False if the position is beside lhs, or between its elements.
  int64_t x, weights;
};

// `at` and `position` have a number per axis.
inline Tap TapAt(const ConvolutionForm& form, const int64_t* at, const int64_t* position) {
  Tap tap{true, 0, 0};
  for (size_t d = 0; d < form.axes.size() && tap.inside; ++d) {
    const ConvolutionAxis& axis = form.axes[d];
    const hlo::WindowDimension& w = axis.window;
    const int64_t dilated = at[d] * w.stride + position[d] * w.window_dilation - w.padding_low;
    tap.inside = dilated >= 0 && dilated % w.base_dilation == 0 && dilated / w.base_dilation < axis.in;
    tap.x += dilated / w.base_dilation * axis.in_stride;
    tap.weights += (w.reversal ? axis.kernel - 1 - position[d] : position[d]) * axis.kernel_stride;
  }
  return tap;
}

// Returns the number of positions of the kernel.
inline int64_t KernelPositions(const ConvolutionForm& form) {
  int64_t positions = 1;
  for (const ConvolutionAxis& axis : form.axes) positions *= axis.kernel;
  return positions;
}

// Goes on to the next position of the kernel, from the last one to the first.
inline void NextPosition(const ConvolutionForm& form, int64_t* position) {
  for (size_t d = form.axes.size(); d-- > 0;) {
    if (++position[d] < form.axes[d].kernel) return;
    position[d] = 0;
  }
}

}  // namespace hlod::engine
