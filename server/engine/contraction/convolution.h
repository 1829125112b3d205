// A convolution's dimensions named once, whatever HLO's labels: what the oneDNN path and the engine's own
// loops start from.
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

// out[n, o, p] = sum over f, k of lhs[n', f', p * stride + k * dilation - padding_low over base dilation] *
// rhs[o, f, k].
struct ConvolutionForm {
  int64_t batch, features, outputs;  // Of lhs: batch and features; of the result: features.
  int64_t feature_groups, batch_groups;
  int64_t lhs_batch, lhs_feature;  // Strides in elements from here on.
  int64_t rhs_input, rhs_output;
  int64_t out_batch, out_feature;
  std::vector<ConvolutionAxis> axes;

  int64_t features_a_group() const { return features / feature_groups; }
  int64_t out_batches() const { return batch / batch_groups; }
  double flops() const;
};
ConvolutionForm MakeConvolutionForm(hlo::Instruction convolution);

// The engine's own loops, in a contraction type (compute_types.h): any window, groups, dilation.
absl::Status LoopConvolution(hlo::PrimitiveType type, const ConvolutionForm& form, const std::byte* lhs,
                             const std::byte* rhs, std::byte* out, const StepContext& context);

// A convolution on oneDNN: itself, and the reorders and copies around it.
class OneDnnConvolution {
 public:
  virtual ~OneDnnConvolution() = default;
  virtual int64_t scratch_bytes() const = 0;
  virtual const std::string& implementation() const = 0;
  virtual absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                           const StepContext& context) const = 0;
};
// Null when oneDNN has no kernel for it (its reference kernels do not count).
std::unique_ptr<OneDnnConvolution> MakeOneDnnConvolution(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                                         hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                         int threads);

}  // namespace hlod::engine
