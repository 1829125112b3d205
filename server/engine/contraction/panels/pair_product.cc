// Widens all rows of lhs, and copies all columns of rhs into panels; then computes blocks of the result,
// piece by piece of the depth. A piece of a panel stays in the first-level cache, those of a block's rows in
// the second.
#include "server/engine/contraction/panels/pair_product.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr int64_t kBlockRows = 96, kBlockStrips = 16;
constexpr int64_t kPiecePairs = 256;
// Rows of a longer depth are kept apart, so that they are not all in the same lines of the caches.
constexpr int64_t kLongPairs = 128, kApart = 32;
// The rows that are widened together if their elements are not neighbours.
constexpr int64_t kTurnedRows = 16;

}  // namespace

std::unique_ptr<PairProduct> PairProduct::Make(const DotView& view, hlo::PrimitiveType lhs,
                                               hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  constexpr int64_t kRowsMin = 2;
  const PairKernels& kernels = GetPairKernels();
  if (!SumsInPairs(lhs, rhs, out) || view.adds || view.m < kRowsMin || view.n < kernels.lanes) return nullptr;
  auto product = std::make_unique<PairProduct>();
  product->view_ = view;
  product->lhs_ = {*PairTypeOf(lhs), hlo::ByteWidth(lhs), view.lhs_m, view.lhs_k};
  product->rhs_ = {*PairTypeOf(rhs), hlo::ByteWidth(rhs), view.rhs_n, view.rhs_k};
  product->pairs_ = CeilDiv(view.k, 2);
  product->row_ = 2 * product->pairs_ + (product->pairs_ >= kLongPairs ? kApart : 0);
  product->strip_ = kernels.columns();
  product->strips_ = CeilDiv(view.n, product->strip_);
  product->blocks_down_ = CeilDiv(view.m, kBlockRows);
  product->blocks_across_ = CeilDiv(product->strips_, kBlockStrips);
  constexpr int64_t kWidth = sizeof(int16_t);
  product->rhs_offset_ = ScratchAlign(view.batches() * view.m * product->row_ * kWidth);
  product->panels_bytes_ =
      ScratchAlign(view.batches() * product->strips_ * product->pairs_ * 2 * product->strip_ * kWidth);
  return product;
}

void PairProduct::WidenRows(const std::byte* lhs, int16_t* rows, int64_t begin, int64_t end) const {
  const WidenRow widen = GetPairKernels().widen[lhs_.type];
  for (int64_t at = begin; at < end;) {
    const int64_t batch = at / view_.m, row = at % view_.m;
    const std::byte* const from = lhs + (view_.OffsetsOf(batch).lhs + row * lhs_.lane_stride) * lhs_.width;
    int16_t* const to = rows + at * row_;
    int64_t count = 1;
    if (lhs_.depth_stride == 1) {
      widen(from, 1, view_.k, to);
    } else {
      count = std::min({kTurnedRows, end - at, view_.m - row});
      for (int64_t k = 0; k < view_.k; ++k) {
        int16_t column[kTurnedRows];
        widen(from + k * lhs_.depth_stride * lhs_.width, lhs_.lane_stride, count, column);
        for (int64_t r = 0; r < count; ++r) to[r * row_ + k] = column[r];
      }
    }
    for (int64_t r = 0; r < count; ++r) std::fill(to + r * row_ + view_.k, to + r * row_ + 2 * pairs_, 0);
    at += count;
  }
}

void PairProduct::PackStrips(const std::byte* rhs, int16_t* panels, int64_t begin, int64_t end) const {
  const PackPairs pack = GetPairKernels().pack[rhs_.type];
  for (int64_t at = begin; at < end; ++at) {
    const int64_t column = at % strips_ * strip_;
    pack({rhs + (view_.OffsetsOf(at / strips_).rhs + column * rhs_.lane_stride) * rhs_.width,
          rhs_.lane_stride, rhs_.depth_stride, std::min(strip_, view_.n - column), view_.k},
         panels + at * pairs_ * 2 * strip_);
  }
}

void PairProduct::RunBlock(int64_t job, const int16_t* rows, const int16_t* panels, int32_t* out,
                           StopCheck& stop) const {
  constexpr int64_t kNoOffset = 0;
  const PairKernels& kernels = GetPairKernels();
  const int64_t batch = job / (blocks_down_ * blocks_across_);
  const int64_t first_row = job / blocks_across_ % blocks_down_ * kBlockRows,
                first_strip = job % blocks_across_ * kBlockStrips;
  const int64_t count = std::min(kBlockRows, view_.m - first_row), tiles = CeilDiv(count, kernels.rows);
  const int64_t end_strip = std::min(strips_, first_strip + kBlockStrips);
  for (int64_t p = 0; p < pairs_; p += kPiecePairs) {
    const int64_t pairs = std::min(kPiecePairs, pairs_ - p);
    for (int64_t strip = first_strip; strip < end_strip; ++strip) {
      const int64_t column = strip * strip_;
      const int columns = static_cast<int>(std::min(strip_, view_.n - column));
      const int vectors = columns > kernels.lanes ? 2 : 1;
      for (int64_t t = 0, row = first_row; t < tiles; ++t) {
        const int64_t height = count / tiles + (t < count % tiles ? 1 : 0);
        kernels.tiles[height - 1][vectors - 1](
            {.lhs = rows + (batch * view_.m + row) * row_ + 2 * p,
             .lhs_row = row_,
             .taps = &kNoOffset,
             .tap_count = 1,
             .pairs = pairs,
             .rhs = panels + ((batch * strips_ + strip) * pairs_ + p) * 2 * strip_,
             .out = out + (batch * view_.m + row) * view_.n + column,
             .out_row = view_.n,
             .columns = columns,
             .adds = p > 0});
        row += height;
      }
      if (stop.Stops(count * pairs * strip_ / 32)) return;
    }
  }
}

absl::Status PairProduct::Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                              const StepContext& context) const {
  auto* const rows = reinterpret_cast<int16_t*>(scratch);
  auto* const panels = reinterpret_cast<int16_t*>(scratch + rhs_offset_);
  const int64_t batches = view_.batches(), all_rows = batches * view_.m, all_strips = batches * strips_;
  RETURN_IF_ERROR(ParallelPieces(context, all_rows, WorkOf(all_rows, view_.k / 4 + 1),
                                 [&](int64_t begin, int64_t end, int) { WidenRows(lhs, rows, begin, end); }));
  RETURN_IF_ERROR(
      ParallelPieces(context, all_strips, WorkOf(all_strips, pairs_ * strip_ / 8 + 1),
                     [&](int64_t begin, int64_t end, int) { PackStrips(rhs, panels, begin, end); }));
  const int64_t work = WorkOf(WorkOf(all_rows, view_.n), view_.k / 8 + 1);
  ParallelRanges(context.threads, batches * blocks_down_ * blocks_across_, work,
                 [&](int64_t begin, int64_t end, int) {
                   StopCheck stop(context.run);
                   for (int64_t job = begin; job < end && !stop.Stops(1); ++job)
                     RunBlock(job, rows, panels, reinterpret_cast<int32_t*>(out), stop);
                 });
  return StopCheck::Verdict(context.run);
}

}  // namespace hlod::engine
