// The engine's own convolution, for every window, group and dilation that HLO can express, and for the types
// that oneDNN lacks.
#include <algorithm>
#include <type_traits>

#include "server/engine/contraction/convolution.h"
#include "server/engine/contraction/convolution_lines.h"
#include "server/engine/contraction/convolution_taps.h"
#include "server/engine/contraction/subnormals.h"
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

// The jobs of a convolution: blocks of at most kOutputs output features at one place of the output.
struct ConvolutionJobs {
  explicit ConvolutionJobs(const ConvolutionForm& form)
      : groups(form.feature_groups * form.batch_groups), outputs_a_group(form.outputs / groups) {
    blocks = (outputs_a_group + kOutputs - 1) / kOutputs;
    places = form.out_batches();
    for (const ConvolutionAxis& axis : form.axes) places *= axis.out;
  }
  int64_t count() const { return places * groups * blocks; }

  int64_t groups;  // Groups of features times groups of batches: one of the two is 1.
  int64_t outputs_a_group, blocks, places;
};

// Returns false when it was interrupted.
template <typename T>
bool RunConvolutionJob(const ConvolutionForm& form, const ConvolutionJobs& jobs, int64_t job, const T* lhs,
                       const T* rhs, T* out, StopCheck& stop) {
  const int64_t features = form.features_a_group();
  const int64_t group = job / jobs.blocks % jobs.groups,
                first = group * jobs.outputs_a_group + job % jobs.blocks * kOutputs;
  const int64_t outputs = std::min(kOutputs, (group + 1) * jobs.outputs_a_group - first);
  const size_t rank = form.axes.size();
  int64_t place = job / jobs.blocks / jobs.groups;
  int64_t at[hlo::kMaxRank], position[hlo::kMaxRank] = {};
  T* to = out + first * form.out_feature;
  for (size_t d = rank; d-- > 0; place /= form.axes[d].out) {
    at[d] = place % form.axes[d].out;
    to += at[d] * form.axes[d].out_stride;
  }
  to += place * form.out_batch;
  const int64_t n = form.batch_groups > 1 ? group * form.out_batches() + place : place;
  const T* const x =
      lhs + n * form.lhs_batch + (form.feature_groups > 1 ? group * features * form.lhs_feature : 0);
  const T* const weights = rhs + first * form.rhs_output;

  T sum[kOutputs] = {};
  for (int64_t p = KernelPositions(form); p-- > 0; NextPosition(form, position)) {
    if (const Tap tap = TapAt(form, at, position); tap.inside) {
      const bool done = stop.ForPieces(features, outputs, [&](int64_t f, int64_t f_end) {
        RunBest<PositionKernel<T>>(x + tap.x + f * form.lhs_feature, form.lhs_feature,
                                   weights + tap.weights + f * form.rhs_input, form.rhs_input,
                                   form.rhs_output, f_end - f, outputs, static_cast<T*>(sum));
      });
      if (!done) return false;
    }
    if (stop.Stops(8)) return false;
  }
  for (int64_t o = 0; o < outputs; ++o) to[o * form.out_feature] = sum[o];
  return true;
}

template <typename T>
absl::Status RunConvolution(const ConvolutionForm& form, const T* lhs, const T* rhs, T* out,
                            const StepContext& context) {
  const ConvolutionJobs jobs(form);
  ParallelRanges(context.threads, jobs.count(), static_cast<int64_t>(std::min(form.flops(), 1e15)),
                 [&](int64_t begin, int64_t end, int) {
                   const WithoutSubnormals zeros;
                   StopCheck stop(context.run);
                   for (int64_t job = begin; job < end; ++job) {
                     if (!RunConvolutionJob(form, jobs, job, lhs, rhs, out, stop)) return;
                   }
                 });
  return StopCheck::Verdict(context.run);
}

}  // namespace

absl::Status LoopConvolution(hlo::PrimitiveType type, const ConvolutionForm& form, const std::byte* lhs,
                             const std::byte* rhs, std::byte* out, const StepContext& context) {
  absl::Status status;
  VisitContractionType(type, [&]<typename T>() {
    const auto* x = reinterpret_cast<const T*>(lhs);
    const auto* weights = reinterpret_cast<const T*>(rhs);
    if constexpr (std::is_floating_point_v<T>) {
      if (const auto lines = ChooseConvolutionLines<T>(form)) {
        status = RunConvolutionLines(form, *lines, x, weights, reinterpret_cast<T*>(out), context);
        return;
      }
    }
    status = RunConvolution(form, x, weights, reinterpret_cast<T*>(out), context);
  });
  return status;
}

}  // namespace hlod::engine
