// Copies lhs, widened and padded, so that every position of the kernel finds elements, and the weights into
// panels. A place's features are then neighbours, and a line of the result is a product of matrices whose
// sums continue from one position of the kernel to the next.
#include "server/engine/contraction/panels/pair_convolution.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/contraction/convolution_taps.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr int64_t kWidth = sizeof(int16_t);

// The largest copy, in times of the elements of operands and result.
constexpr double kCopiesMax = 4;
constexpr int64_t kFeaturesMin = 4, kPositionsMax = 1 << 12;

double CountOf(int64_t batches, int64_t features, const std::vector<int64_t>& sizes) {
  double count = static_cast<double>(batches) * static_cast<double>(features);
  for (const int64_t size : sizes) count *= static_cast<double>(size);
  return count;
}

// Returns the size that windows reach over along an axis, or -1 if it overflows.
int64_t Reach(const ConvolutionAxis& axis) {
  const auto strides = CheckedMultiply(axis.out - 1, axis.window.stride),
             dilated = CheckedMultiply(axis.kernel - 1, axis.window.window_dilation);
  constexpr int64_t kMax = int64_t{1} << 40;
  if (!strides || !dilated || *strides > kMax || *dilated > kMax) return -1;
  return *strides + *dilated + 1;
}

}  // namespace

std::unique_ptr<PairConvolution> PairConvolution::Make(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                                       hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  const PairKernels& kernels = GetPairKernels();
  if (!SumsInPairs(lhs, rhs, out) || form.batch_groups != 1 || form.axes.empty()) return nullptr;
  auto made = std::make_unique<PairConvolution>();
  made->form_ = form;
  made->outputs_ = form.outputs / form.feature_groups;
  if (form.features_a_group() < kFeaturesMin || 2 * made->outputs_ < kernels.lanes) return nullptr;
  std::vector<int64_t> in, to;
  double positions = 1;
  for (const ConvolutionAxis& axis : form.axes) {
    made->sizes_.push_back(Reach(axis));
    in.push_back(axis.in);
    to.push_back(axis.out);
    positions *= static_cast<double>(axis.kernel);
    if (made->sizes_.back() < 1) return nullptr;
  }
  made->pairs_ = CeilDiv(form.features_a_group(), 2);
  made->place_ = form.feature_groups * 2 * made->pairs_;
  if (positions > kPositionsMax ||
      CountOf(form.batch, made->place_, made->sizes_) >
          kCopiesMax * (CountOf(form.batch, form.features, in) + CountOf(form.batch, form.outputs, to)))
    return nullptr;

  made->strides_.resize(form.axes.size());
  for (size_t d = form.axes.size(); d-- > 0;) {
    made->strides_[d] = made->places_ * made->place_;
    made->places_ *= made->sizes_[d];
    if (form.axes[d].out > form.axes[made->line_].out) made->line_ = d;
  }
  int64_t position[hlo::kMaxRank] = {};
  for (int64_t p = KernelPositions(form); p-- > 0; NextPosition(form, position)) {
    int64_t tap = 0, weight = 0;
    for (size_t d = 0; d < form.axes.size(); ++d) {
      const ConvolutionAxis& axis = form.axes[d];
      tap += position[d] * axis.window.window_dilation * made->strides_[d];
      weight += (axis.window.reversal ? axis.kernel - 1 - position[d] : position[d]) * axis.kernel_stride;
    }
    made->taps_.push_back(tap);
    made->weights_.push_back(weight);
  }
  made->lhs_type_ = *PairTypeOf(lhs), made->rhs_type_ = *PairTypeOf(rhs);
  made->lhs_width_ = hlo::ByteWidth(lhs), made->rhs_width_ = hlo::ByteWidth(rhs);
  made->strip_ = kernels.columns();
  made->strips_ = CeilDiv(made->outputs_, made->strip_);
  made->panels_offset_ = ScratchAlign(form.batch * made->places_ * made->place_ * kWidth);
  made->panels_bytes_ =
      ScratchAlign(form.feature_groups * made->strips_ * static_cast<int64_t>(made->taps_.size()) *
                   made->pairs_ * 2 * made->strip_ * kWidth);
  return made;
}

void PairConvolution::PadPlaces(const std::byte* lhs, int16_t* padded, int64_t begin, int64_t end) const {
  const WidenRow widen = GetPairKernels().widen[lhs_type_];
  const int64_t groups = form_.feature_groups, features = form_.features_a_group();
  const ConvolutionAxis& last = form_.axes.back();
  const bool is_dense = form_.lhs_feature == 1 && 2 * pairs_ == features && last.in_stride == place_ &&
                        last.window.base_dilation == 1;
  for (int64_t at = begin; at < end;) {
    int64_t rest = at, from = 0;
    int64_t inside = 1;  // The places from here on that are contiguous in lhs, too; 0 if this one is padding.
    for (size_t d = form_.axes.size(); d-- > 0;) {
      const ConvolutionAxis& axis = form_.axes[d];
      const int64_t size = sizes_[d], index = rest % size - axis.window.padding_low;
      rest /= size;
      const bool is_element =
          index >= 0 && index % axis.window.base_dilation == 0 && index / axis.window.base_dilation < axis.in;
      if (!is_element) inside = 0;
      if (!is_element) continue;
      from += index / axis.window.base_dilation * axis.in_stride;
      if (is_dense && inside != 0 && d + 1 == form_.axes.size())
        inside = std::min({axis.in - index, size - at % size, end - at});
    }
    from += rest * form_.lhs_batch;
    int16_t* to = padded + at * place_;
    if (inside == 0) {
      std::fill_n(to, place_, int16_t{0});
    } else if (is_dense) {
      widen(lhs + from * lhs_width_, 1, inside * place_, to);
    } else {
      for (int64_t g = 0; g < groups; ++g, to += 2 * pairs_) {
        widen(lhs + (from + g * features * form_.lhs_feature) * lhs_width_, form_.lhs_feature, features, to);
        std::fill(to + features, to + 2 * pairs_, int16_t{0});
      }
    }
    at += std::max<int64_t>(1, inside);
  }
}

void PairConvolution::PackStrips(const std::byte* rhs, int16_t* panels, int64_t begin, int64_t end) const {
  const PackPairs pack = GetPairKernels().pack[rhs_type_];
  const auto taps = static_cast<int64_t>(taps_.size());
  for (int64_t at = begin; at < end; ++at) {
    const int64_t column = at % strips_ * strip_;
    const int64_t first = (at / strips_ * outputs_ + column) * form_.rhs_output;
    for (int64_t t = 0; t < taps; ++t) {
      pack({rhs + (first + weights_[static_cast<size_t>(t)]) * rhs_width_, form_.rhs_output, form_.rhs_input,
            std::min(strip_, outputs_ - column), form_.features_a_group()},
           panels + (at * taps + t) * pairs_ * 2 * strip_);
    }
  }
}

void PairConvolution::RunTile(const PairTile& tile, int height, int32_t* out) const {
  constexpr int kColumnsMax = 64;
  const PairKernels& kernels = GetPairKernels();
  const auto run = kernels.tiles[height - 1][tile.columns > kernels.lanes ? 1 : 0];
  PairTile direct = tile;
  if (form_.out_feature == 1) {
    direct.out = out;
    direct.out_row = form_.axes[line_].out_stride;
    return run(direct);
  }
  int32_t sums[PairKernels::kRowsMax * kColumnsMax];
  direct.out = sums;
  direct.out_row = kColumnsMax;
  run(direct);
  for (int64_t c = 0; c < tile.columns; ++c) {
    for (int64_t r = 0; r < height; ++r)
      out[c * form_.out_feature + r * form_.axes[line_].out_stride] = sums[r * kColumnsMax + c];
  }
}

void PairConvolution::RunLine(int64_t line, const int16_t* padded, const int16_t* panels, int32_t* out,
                              StopCheck& stop) const {
  const PairKernels& kernels = GetPairKernels();
  const auto taps = static_cast<int64_t>(taps_.size());
  const ConvolutionAxis& axis = form_.axes[line_];
  const int16_t* from = padded;
  for (size_t d = form_.axes.size(); d-- > 0;) {
    if (d == line_) continue;
    const int64_t at = line % form_.axes[d].out;
    line /= form_.axes[d].out;
    from += at * form_.axes[d].window.stride * strides_[d];
    out += at * form_.axes[d].out_stride;
  }
  from += line * places_ * place_;
  out += line * form_.out_batch;
  const int64_t tiles = CeilDiv(axis.out, kernels.rows), lhs_row = axis.window.stride * strides_[line_];
  for (int64_t strip = 0; strip < form_.feature_groups * strips_; ++strip) {
    const int64_t group = strip / strips_, column = strip % strips_ * strip_;
    PairTile tile{.lhs = from + group * 2 * pairs_,
                  .lhs_row = lhs_row,
                  .taps = taps_.data(),
                  .tap_count = taps,
                  .pairs = pairs_,
                  .rhs = panels + strip * taps * pairs_ * 2 * strip_,
                  .out = nullptr,
                  .out_row = 0,
                  .columns = static_cast<int>(std::min(strip_, outputs_ - column)),
                  .adds = false};
    int32_t* to = out + (group * outputs_ + column) * form_.out_feature;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t height = axis.out / tiles + (t < axis.out % tiles ? 1 : 0);
      RunTile(tile, static_cast<int>(height), to);
      tile.lhs += height * lhs_row;
      to += height * axis.out_stride;
      if (stop.Stops(taps * pairs_ * height)) return;
    }
  }
}

absl::Status PairConvolution::Run(const std::byte* lhs, const std::byte* rhs, std::byte* out,
                                  std::byte* scratch, const StepContext& context) const {
  auto* const padded = reinterpret_cast<int16_t*>(scratch);
  auto* const panels = reinterpret_cast<int16_t*>(scratch + panels_offset_);
  const int64_t places = form_.batch * places_, strips = form_.feature_groups * strips_;
  RETURN_IF_ERROR(
      ParallelPieces(context, places, WorkOf(places, place_ / 4 + 1),
                     [&](int64_t begin, int64_t end, int) { PadPlaces(lhs, padded, begin, end); }));
  RETURN_IF_ERROR(ParallelPieces(
      context, strips, WorkOf(strips, static_cast<int64_t>(taps_.size()) * pairs_ * strip_ / 4 + 1),
      [&](int64_t begin, int64_t end, int) { PackStrips(rhs, panels, begin, end); }));
  int64_t lines = form_.batch;
  for (size_t d = 0; d < form_.axes.size(); ++d) lines *= d == line_ ? 1 : form_.axes[d].out;
  ParallelRanges(context.threads, lines, static_cast<int64_t>(std::min(form_.flops() / 16, 1e15)),
                 [&](int64_t begin, int64_t end, int) {
                   StopCheck stop(context.run);
                   for (int64_t line = begin; line < end && !stop.Stops(1); ++line)
                     RunLine(line, padded, panels, reinterpret_cast<int32_t*>(out), stop);
                 });
  return StopCheck::Verdict(context.run);
}

}  // namespace hlod::engine
