// The engine's own convolution, for every window, group and dilation that HLO can express, and for the types
// that oneDNN lacks.
#include <algorithm>

#include "server/engine/contraction/convolution.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/cpu_dispatch.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

constexpr int64_t kOutputs = 64;  // The number of output features that are computed together.

// sum[o] += x[f] * weights[f, o] over the features of one kernel position.
template <typename T>
struct PositionKernel {
  static HLOD_ALWAYS_INLINE void Run(const T* x, int64_t x_feature, const T* weights, int64_t w_input,
                                     int64_t w_output, int64_t features, int64_t outputs, T* sum) {
    for (int64_t f = 0; f < features; ++f) {
      const T factor = x[f * x_feature];
      const T* row = weights + f * w_input;
      if (w_output == 1) {
#pragma omp simd
        for (int64_t o = 0; o < outputs; ++o) sum[o] += factor * row[o];
      } else {
        for (int64_t o = 0; o < outputs; ++o) sum[o] += factor * row[o * w_output];
      }
    }
  }
};

template <typename T>
absl::Status Loop(const ConvolutionForm& form, const T* lhs, const T* rhs, T* out,
                  const StepContext& context) {
  const int64_t groups = form.feature_groups * form.batch_groups;  // One of the two is 1.
  const int64_t outputs_a_group = form.outputs / groups, features = form.features_a_group();
  const int64_t blocks = (outputs_a_group + kOutputs - 1) / kOutputs;
  int64_t places = form.out_batches();
  for (const ConvolutionAxis& axis : form.axes) places *= axis.out;
  int64_t positions = 1;
  for (const ConvolutionAxis& axis : form.axes) positions *= axis.kernel;
  const size_t rank = form.axes.size();

  ParallelRanges(
      context.threads, places * groups * blocks, static_cast<int64_t>(std::min(form.flops(), 1e15)),
      [&](int64_t begin, int64_t end, int) {
        StopCheck stop(context.run);
        for (int64_t job = begin; job < end; ++job) {
          const int64_t group = job / blocks % groups,
                        first = group * outputs_a_group + job % blocks * kOutputs;
          const int64_t outputs = std::min(kOutputs, (group + 1) * outputs_a_group - first);
          int64_t place = job / blocks / groups;
          int64_t at[hlo::kMaxRank], position[hlo::kMaxRank] = {};
          T* to = out + first * form.out_feature;
          for (size_t d = rank; d-- > 0; place /= form.axes[d].out) {
            at[d] = place % form.axes[d].out;
            to += at[d] * form.axes[d].out_stride;
          }
          to += place * form.out_batch;
          const int64_t n = form.batch_groups > 1 ? group * form.out_batches() + place : place;
          const T* x =
              lhs + n * form.lhs_batch + (form.feature_groups > 1 ? group * features * form.lhs_feature : 0);
          const T* weights = rhs + first * form.rhs_output;

          T sum[kOutputs] = {};
          for (int64_t p = 0; p < positions; ++p) {
            int64_t x_offset = 0, w_offset = 0;
            bool inside = true;
            for (size_t d = 0; d < rank && inside; ++d) {
              const ConvolutionAxis& axis = form.axes[d];
              const hlo::WindowDimension& w = axis.window;
              const int64_t dilated = at[d] * w.stride + position[d] * w.window_dilation - w.padding_low;
              inside = dilated >= 0 && dilated % w.base_dilation == 0 && dilated / w.base_dilation < axis.in;
              x_offset += dilated / w.base_dilation * axis.in_stride;
              w_offset += (w.reversal ? axis.kernel - 1 - position[d] : position[d]) * axis.kernel_stride;
            }
            if (inside) {
              const bool done = stop.ForPieces(features, outputs, [&](int64_t f, int64_t f_end) {
                RunBest<PositionKernel<T>>(x + x_offset + f * form.lhs_feature, form.lhs_feature,
                                           weights + w_offset + f * form.rhs_input, form.rhs_input,
                                           form.rhs_output, f_end - f, outputs, static_cast<T*>(sum));
              });
              if (!done) return;
            }
            if (stop.Stops(8)) return;
            for (size_t d = rank; d-- > 0;) {
              if (++position[d] < form.axes[d].kernel) break;
              position[d] = 0;
            }
          }
          for (int64_t o = 0; o < outputs; ++o) to[o * form.out_feature] = sum[o];
        }
      });
  return StopCheck::Verdict(context.run);
}

}  // namespace

absl::Status LoopConvolution(hlo::PrimitiveType type, const ConvolutionForm& form, const std::byte* lhs,
                             const std::byte* rhs, std::byte* out, const StepContext& context) {
  absl::Status status;
  VisitContractionType(type, [&]<typename T>() {
    status = Loop(form, reinterpret_cast<const T*>(lhs), reinterpret_cast<const T*>(rhs),
                  reinterpret_cast<T*>(out), context);
  });
  return status;
}

}  // namespace hlod::engine
