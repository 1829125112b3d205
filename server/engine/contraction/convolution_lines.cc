// Adds the product of one position of the kernel to a line of the result, position by position.
#include "server/engine/contraction/convolution_lines.h"

#include <algorithm>

#include "common/base/arithmetic.h"
#include "server/engine/contraction/convolution_taps.h"
#include "server/engine/contraction/panels/filter_kernel.h"
#include "server/engine/contraction/panels/panel_kernels.h"
#include "server/engine/contraction/subnormals.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

constexpr int64_t kStripFeatures = 256;  // The features whose strip of columns stays in L1.
// The places of a line that are computed together, so that long lines have work for all threads.
constexpr int64_t kBlockPlaces = 512;

int64_t OutputsPerGroup(const ConvolutionForm& form) {
  return form.outputs / (form.feature_groups * form.batch_groups);
}

// The product that is added to a line at one position of the kernel. Strides are in elements.
template <typename T>
struct LineProduct {
  const T* lhs;
  int64_t lhs_row, lhs_depth;
  const T* rhs;
  int64_t rhs_depth;
  T* out;
  int64_t out_row, rows, columns, depth;

  // Returns false when it was interrupted.
  bool AddTo(StopCheck& stop) const {
    const PanelKernels<T>& kernels = GetPanelKernels<T>();
    for (int64_t k = 0; k < depth; k += kStripFeatures) {
      const int64_t features = std::min(kStripFeatures, depth - k);
      for (int64_t column = 0; column < columns; column += kernels.columns()) {
        const int count = static_cast<int>(std::min<int64_t>(kernels.columns(), columns - column));
        const bool done = stop.ForPieces(rows, 1 + features * count / 16, [&](int64_t row, int64_t end) {
          for (; row < end; row += kernels.rows)
            AddTile(kernels, row, std::min<int64_t>(kernels.rows, end - row), column, count, k, features);
        });
        if (!done) return false;
      }
    }
    return true;
  }

 private:
  void AddTile(const PanelKernels<T>& kernels, int64_t row, int64_t rows_here, int64_t column, int count,
               int64_t k, int64_t features) const {
    const PanelTile<T> tile = {.lhs = lhs + row * lhs_row + k * lhs_depth,
                               .lhs_row = lhs_row,
                               .lhs_depth = lhs_depth,
                               .rhs = rhs + k * rhs_depth + column,
                               .rhs_depth = rhs_depth,
                               .depth = features,
                               .out = out + row * out_row + column,
                               .out_row = out_row,
                               .columns = count,
                               .adds = true};
    kernels.strided[rows_here - 1][count > kernels.lanes ? 1 : 0](tile);
  }
};

// Places [begin, end) of a line.
struct Range {
  int64_t begin, end;
};
// Returns those of the places at which a position of the kernel meets elements of lhs along the line's axis,
// which has no base dilation.
Range PlacesInside(const ConvolutionAxis& axis, int64_t position, Range places) {
  const hlo::WindowDimension& w = axis.window;
  const int64_t first = w.padding_low - position * w.window_dilation, last = first + axis.in - 1;
  return {std::max(places.begin, CeilDiv(first, w.stride)),
          last < 0 ? places.begin : std::min(places.end, last / w.stride + 1)};
}

template <typename T>
class Lines {
 public:
  Lines(const ConvolutionForm& form, const ConvolutionLines& lines, const T* lhs, const T* rhs, T* out)
      : form_(form),
        line_(lines.axis),
        transposed_(lines.places_are_columns),
        axis_(form.axes[lines.axis]),
        lhs_(lhs),
        rhs_(rhs),
        out_(out),
        groups_(form.feature_groups * form.batch_groups),
        outputs_(OutputsPerGroup(form)),
        blocks_(CeilDiv(axis_.out, kBlockPlaces)) {}

  int64_t count() const {
    int64_t jobs = form_.out_batches() * groups_ * blocks_;
    for (size_t d = 0; d < form_.axes.size(); ++d) jobs *= d == line_ ? 1 : form_.axes[d].out;
    return jobs;
  }

  // Computes a block of a line for all outputs of one group. Returns false when it was interrupted.
  bool Run(int64_t job, StopCheck& stop) const {
    const int64_t group = job % groups_, features = form_.features_a_group();
    const int64_t begin = job / groups_ % blocks_ * kBlockPlaces;
    const Range block = {begin, std::min(axis_.out, begin + kBlockPlaces)};
    int64_t at[hlo::kMaxRank] = {}, position[hlo::kMaxRank] = {};
    T* to = out_ + group * outputs_ * form_.out_feature;
    int64_t batch = job / groups_ / blocks_;
    for (size_t d = form_.axes.size(); d-- > 0;) {
      if (d == line_) continue;
      at[d] = batch % form_.axes[d].out;
      to += at[d] * form_.axes[d].out_stride;
      batch /= form_.axes[d].out;
    }
    to += batch * form_.out_batch;
    if (form_.batch_groups > 1) batch += group * form_.out_batches();
    const T* const x = lhs_ + batch * form_.lhs_batch +
                       (form_.feature_groups > 1 ? group * features * form_.lhs_feature : 0);
    const T* const weights = rhs_ + group * outputs_ * form_.rhs_output;

    Clear(to, block);
    if (transposed_ && features == 1 && outputs_ == 1) return AddFilter(x, weights, to, block, at, stop);
    for (int64_t p = KernelPositions(form_); p-- > 0; NextPosition(form_, position)) {
      if (stop.Stops(8)) return false;
      const Range places = PlacesInside(axis_, position[line_], block);
      if (places.begin >= places.end) continue;
      at[line_] = places.begin;
      const Tap tap = TapAt(form_, at, position);
      if (tap.inside && !ProductOf(x + tap.x, weights + tap.weights, to, places).AddTo(stop)) return false;
    }
    return true;
  }

 private:
  // Adds all positions of a kernel of one feature and one output, some at a time.
  bool AddFilter(const T* x, const T* weights, T* line, Range block, int64_t* at, StopCheck& stop) const {
    constexpr int64_t kTapsAtOnce = 128;
    FilterTap<T> taps[kTapsAtOnce];
    int64_t position[hlo::kMaxRank] = {}, count = 0;
    for (int64_t p = KernelPositions(form_); p-- > 0; NextPosition(form_, position)) {
      const Range places = PlacesInside(axis_, position[line_], block);
      at[line_] = places.begin;
      if (places.begin < places.end) {
        const Tap tap = TapAt(form_, at, position);
        if (tap.inside)
          taps[count++] = {weights[tap.weights], tap.x - places.begin, places.begin, places.end};
      }
      if (count == kTapsAtOnce || (p == 0 && count > 0)) {
        RunBest<FilterKernel<T>>(static_cast<const FilterTap<T>*>(taps), count, x, block.begin, block.end,
                                 line);
        if (stop.Stops(count * (block.end - block.begin) / 8)) return false;
        count = 0;
      }
      if (stop.Stops(8)) return false;
    }
    return true;
  }

  void Clear(T* line, Range places) const {
    const int64_t count = places.end - places.begin;
    const int64_t rows = transposed_ ? outputs_ : count, columns = transposed_ ? count : outputs_;
    const int64_t stride = transposed_ ? form_.out_feature : axis_.out_stride;
    T* const to = line + places.begin * axis_.out_stride;
    for (int64_t row = 0; row < rows; ++row) std::fill_n(to + row * stride, columns, T{0});
  }

  LineProduct<T> ProductOf(const T* x, const T* weights, T* line, Range places) const {
    const int64_t features = form_.features_a_group(), count = places.end - places.begin;
    T* const to = line + places.begin * axis_.out_stride;
    if (transposed_) {
      return {.lhs = weights,
              .lhs_row = form_.rhs_output,
              .lhs_depth = form_.rhs_input,
              .rhs = x,
              .rhs_depth = form_.lhs_feature,
              .out = to,
              .out_row = form_.out_feature,
              .rows = outputs_,
              .columns = count,
              .depth = features};
    }
    return {.lhs = x,
            .lhs_row = axis_.window.stride * axis_.in_stride,
            .lhs_depth = form_.lhs_feature,
            .rhs = weights,
            .rhs_depth = form_.rhs_input,
            .out = to,
            .out_row = axis_.out_stride,
            .rows = count,
            .columns = outputs_,
            .depth = features};
  }

  const ConvolutionForm& form_;
  const size_t line_;
  const bool transposed_;
  const ConvolutionAxis& axis_;
  const T *const lhs_, *const rhs_;
  T* const out_;
  const int64_t groups_, outputs_;  // The groups, and the outputs per group.
  const int64_t blocks_;            // Per line.
};

template <typename T>
absl::Status RunAll(const Lines<T>& lines, double flops, const StepContext& context) {
  ParallelRanges(context.threads, lines.count(), static_cast<int64_t>(std::min(flops, 1e15)),
                 [&](int64_t begin, int64_t end, int) {
                   const WithoutSubnormals zeros;
                   StopCheck stop(context.run);
                   for (int64_t job = begin; job < end; ++job) {
                     if (!lines.Run(job, stop)) return;
                   }
                 });
  return StopCheck::Verdict(context.run);
}

}  // namespace

template <typename T>
std::optional<ConvolutionLines> ChooseConvolutionLines(const ConvolutionForm& form) {
  const int64_t lanes = GetPanelKernels<T>().lanes, outputs = OutputsPerGroup(form);
  std::optional<ConvolutionLines> best;
  int64_t columns = lanes - 1, rows = 0;
  const auto offer = [&](ConvolutionLines lines, int64_t its_columns, int64_t its_rows) {
    const auto filled = [&](int64_t count) { return std::min(count, 2 * lanes); };
    if (std::pair(filled(its_columns), its_rows) <= std::pair(filled(columns), rows)) return;
    if (its_columns < lanes) return;
    best = lines;
    columns = its_columns;
    rows = its_rows;
  };
  for (size_t d = 0; d < form.axes.size(); ++d) {
    const ConvolutionAxis& axis = form.axes[d];
    if (axis.window.base_dilation != 1) continue;
    if (form.rhs_output == 1 && form.out_feature == 1) offer({d, false}, outputs, axis.out);
    if (axis.in_stride == 1 && axis.out_stride == 1 && axis.window.stride == 1)
      offer({d, true}, axis.out, outputs);
  }
  return best;
}

template <typename T>
absl::Status RunConvolutionLines(const ConvolutionForm& form, const ConvolutionLines& lines, const T* lhs,
                                 const T* rhs, T* out, const StepContext& context) {
  return RunAll(Lines<T>(form, lines, lhs, rhs, out), form.flops(), context);
}

template std::optional<ConvolutionLines> ChooseConvolutionLines<float>(const ConvolutionForm&);
template std::optional<ConvolutionLines> ChooseConvolutionLines<double>(const ConvolutionForm&);
template absl::Status RunConvolutionLines(const ConvolutionForm&, const ConvolutionLines&, const float*,
                                          const float*, float*, const StepContext&);
template absl::Status RunConvolutionLines(const ConvolutionForm&, const ConvolutionLines&, const double*,
                                          const double*, double*, const StepContext&);

}  // namespace hlod::engine
