// Convolutions of floats as products of matrices whose operands are read where they are. For one line of the
// result along an axis, and one position of the kernel, the product is
//
//   out[places, outputs] += lhs[places, features] * rhs[features, outputs]
//
// with constant strides in each dimension, or the same transposed if the places, and not the outputs, are
// neighbours in memory. The tiles of panels/panel_kernels.h compute it. oneDNN's convolutions are faster, but
// it has none of f64.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/status.h"
#include "server/engine/contraction/convolution.h"

namespace hlod::engine {

struct ConvolutionLines {
  size_t axis = 0;                  // The axis of form.axes along which the lines are.
  bool places_are_columns = false;  // True if the places are neighbours in memory; else the outputs are.
};

// Returns the lines of a convolution of T, float or double, or nullopt if no matrix has columns that are
// neighbours and fill a vector.
template <typename T>
std::optional<ConvolutionLines> ChooseConvolutionLines(const ConvolutionForm& form);

// Computes the convolution. The bits of the result are the same for any number of threads.
template <typename T>
absl::Status RunConvolutionLines(const ConvolutionForm& form, const ConvolutionLines& lines, const T* lhs,
                                 const T* rhs, T* out, const StepContext& context);

}  // namespace hlod::engine
