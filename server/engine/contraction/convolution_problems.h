// A convolution posed as one of oneDNN's three problems: forward, backward by data, backward by weights.
#pragma once

#include <vector>

#include "server/engine/contraction/convolution.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/movement/copy_nd.h"

namespace hlod::engine {

enum class Direction { kForward, kBackwardData, kBackwardWeights };

// One of the three arrays, in oneDNN's order of dimensions: batch, channels, spatial; weights: [groups,]
// outputs, inputs, spatial. Strides and offset in elements.
struct ProblemArray {
  dnnl::memory::dims dims, strides;
  dnnl::memory::data_type type{};
  int64_t offset = 0;  // Before the first element, where negative padding crops.
};

struct ConvolutionProblem {
  Direction direction = Direction::kForward;
  ProblemArray src, weights, dst;
  // One a spatial dimension; dilation 0 is none.
  dnnl::memory::dims strides, dilations, padding_low, padding_high;
};

// The problems that compute the convolution, the better first; none when oneDNN cannot say it or its
// numbers are too large for oneDNN. The weights of
// all but kBackwardWeights are as HLO has them: FlipWeights must follow where the direction walks them the
// other way.
std::vector<ConvolutionProblem> ConvolutionProblems(const ConvolutionForm& form, dnnl::memory::data_type lhs,
                                                    dnnl::memory::data_type rhs, dnnl::memory::data_type out);

// A copy of the weights with the `flipped` spatial dimensions reversed; `weights` becomes the dense copy's
// description, its offset where the copy starts reading.
CopyNd FlipWeights(ProblemArray& weights, const std::vector<bool>& flipped, int width);

}  // namespace hlod::engine
