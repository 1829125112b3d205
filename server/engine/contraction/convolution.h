// A convolution's dimensions in a form that is independent of HLO's labels. The oneDNN path and the engine's
// own loops both start from it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// One spatial dimension: sizes and strides (in elements) of lhs, kernel and result.
struct ConvolutionAxis {
  int64_t in, kernel, out;
  int64_t in_stride, kernel_stride, out_stride;
  hlo::WindowDimension window;
};

// out[n, o, p] is the sum over f and k of lhs[n', f', (p * stride + k * dilation - padding_low) /
// base_dilation] * rhs[o, f, k].
struct ConvolutionForm {
  int64_t batch, features, outputs;  // The batch and features of lhs, and the features of the result.
  int64_t feature_groups, batch_groups;
  int64_t lhs_batch, lhs_feature;  // The following are strides in elements.
  int64_t rhs_input, rhs_output;
  int64_t out_batch, out_feature;
  std::vector<ConvolutionAxis> axes;

  int64_t features_a_group() const { return features / feature_groups; }
  int64_t out_batches() const { return batch / batch_groups; }
  // The number of products that are added up to one element.
  double terms() const;
  double flops() const;
};
ConvolutionForm MakeConvolutionForm(hlo::Instruction convolution);

// Computes the convolution with the engine's own loops, in a contraction type (compute_types.h), for any
// window, groups and dilation.
absl::Status LoopConvolution(hlo::PrimitiveType type, const ConvolutionForm& form, const std::byte* lhs,
                             const std::byte* rhs, std::byte* out, const StepContext& context);

// A convolution on oneDNN, including the reorders and copies around it.
class OneDnnConvolution {
 public:
  virtual ~OneDnnConvolution() = default;
  virtual int64_t scratch_bytes() const = 0;
  virtual const std::string& implementation() const = 0;
  virtual absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                           const StepContext& context) const = 0;
};
// Returns null if oneDNN has no kernel for it, apart from its slow reference kernels.
std::unique_ptr<OneDnnConvolution> MakeOneDnnConvolution(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                                         hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                         int threads);

}  // namespace hlod::engine
