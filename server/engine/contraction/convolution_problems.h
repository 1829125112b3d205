// Expresses a convolution as one of oneDNN's three problems: forward, backward by data, backward by weights.
#pragma once

#include <vector>

#include "server/engine/contraction/convolution.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/movement/copy_nd.h"

namespace hlod::engine {

enum class Direction { kForward, kBackwardData, kBackwardWeights };

// One of the three arrays, with its dimensions in oneDNN's order: batch, channels, spatial; for weights
// [groups,] outputs, inputs, spatial. Strides and offset are in elements.
struct ProblemArray {
  dnnl::memory::dims dims, strides;
  dnnl::memory::data_type type{};
  int64_t offset = 0;  // The elements before the first one, which negative padding crops.
};

struct ConvolutionProblem {
  Direction direction = Direction::kForward;
  ProblemArray src, weights, dst;
  // One per spatial dimension; a dilation of 0 means none.
  dnnl::memory::dims strides, dilations, padding_low, padding_high;
};

// Returns the problems that compute the convolution, the best first; empty if oneDNN cannot express it, or
// its numbers are too large for oneDNN. Except for kBackwardWeights the weights are in HLO's order:
// FlipWeights must be called if the direction reads them in reverse.
std::vector<ConvolutionProblem> ConvolutionProblems(const ConvolutionForm& form, dnnl::memory::data_type lhs,
                                                    dnnl::memory::data_type rhs, dnnl::memory::data_type out);

// Returns a copy of the weights with the `flipped` spatial dimensions reversed. Changes `weights` to describe
// the dense copy, with the element at which the copy starts reading as its offset.
CopyNd FlipWeights(ProblemArray& weights, const std::vector<bool>& flipped, int width);

}  // namespace hlod::engine
