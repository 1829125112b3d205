// Cuts the result into blocks, which the team's threads compute one after another, each from the first to the
// last element of the depth.
//
// A block's rows of lhs are copied once per piece of the depth and then stay in the second-level cache; the
// columns of rhs are copied strip by strip and stay in the first-level cache, where all rows are multiplied
// with them. Threads share nothing: a copy costs little beside the hundreds of products that each of its
// elements takes part in, and less than waiting for one another.
#include "server/engine/contraction/panels/panel_product.h"

#include <algorithm>
#include <atomic>

#include "common/base/system/cpu.h"
#include "server/engine/contraction/panels/panel_kernels.h"
#include "server/engine/contraction/subnormals.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// The sizes of blocks: a strip of rhs fits the first-level cache, the rows of lhs half of the second one,
// which processors with AVX-512 have at least 1 MiB of, others sometimes 512 KiB.
constexpr int64_t kDepth = 384, kColumns = 1024;
constexpr int64_t kLhsBytes = 224 << 10, kLhsBytesAvx512 = 512 << 10;
// The number of blocks per thread that evens out the threads' times, and the products below which a smaller
// block is not worth its copies.
constexpr int64_t kBlocksEach = 4, kBlockProductsMin = int64_t{1} << 20;
// The strips of rhs that are copied together, some depths at a time, so that memory is read in longer runs.
constexpr int64_t kStrips = 4, kStripDepths = 32;
// The number of turns in which a thread takes its share of the blocks.
constexpr int64_t kTurnsEach = 8;
// The columns that a row is multiplied with at a time, at least: the processor then sees that rows are read
// in order.
constexpr int64_t kVectorColumns = 256;
// The longest row that is multiplied by a vector without a check whether the run has to stop.
constexpr int64_t kRowMax = int64_t{1} << 21;
// The longest column of a matrix that is multiplied by a row without such a check.
constexpr int64_t kRowsMax = 1 << 15;
// An operand is read in place if each element is used by at most this number of tiles.
constexpr int64_t kTilesInPlace = 2;

// Cuts `size` into the fewest pieces of at most `most`, and returns the size of the largest, at least `unit`,
// if they are as equal as multiples of `unit` can be.
int64_t EvenPiece(int64_t size, int64_t most, int64_t unit) {
  const int64_t pieces = std::max<int64_t>(1, CeilDiv(size, most));
  return std::max<int64_t>(1, CeilDiv(CeilDiv(size, pieces), unit)) * unit;
}

}  // namespace

std::unique_ptr<PanelProduct> PanelProduct::Make(const DotView& view, hlo::PrimitiveType lhs,
                                                 hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                 int threads) {
  auto product = std::make_unique<PanelProduct>();
  product->type_ = out == hlo::kF64 ? hlo::kF64 : hlo::kF32;
  const PackPanel pack_lhs = FindPackPanel(lhs, product->type_),
                  pack_rhs = FindPackPanel(rhs, product->type_);
  const std::optional<ConvertFunction> convert = FindSumConversion(product->type_, out);
  if (pack_lhs == nullptr || pack_rhs == nullptr || !hlo::IsFloat(out) || !convert || view.adds)
    return nullptr;
  product->view_ = view;
  product->threads_ = threads;
  product->out_width_ = hlo::ByteWidth(out);
  product->out_convert_ = *convert;
  VisitContractionType(product->type_, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      product->tile_rows_ = GetPanelKernels<T>().rows;
      product->tile_columns_ = GetPanelKernels<T>().columns();
    }
  });
  const bool is_vector = view.m == 1 || view.n == 1;
  if (is_vector && lhs == rhs && view.lhs_k == 1 && view.rhs_k == 1 && view.k <= kRowMax)
    product->by_vector_ = FindMultiplyByVector(lhs);
  if (view.m == 1 && lhs == rhs && view.rhs_n == 1 && product->by_vector_ == nullptr && view.k <= kRowsMax)
    product->by_matrix_ = FindMultiplyByMatrix(lhs);
  const bool lhs_in_place = lhs == product->type_ && view.n <= kTilesInPlace * product->tile_columns_;
  const bool rhs_in_place =
      rhs == product->type_ && view.rhs_n == 1 && view.m <= kTilesInPlace * product->tile_rows_;
  product->lhs_ = {hlo::ByteWidth(lhs), view.lhs_m, view.lhs_k, lhs_in_place ? nullptr : pack_lhs};
  product->rhs_ = {hlo::ByteWidth(rhs), view.rhs_n, view.rhs_k, rhs_in_place ? nullptr : pack_rhs};
  product->ChooseBlocks();
  product->ReserveScratch();
  return product;
}

void PanelProduct::ChooseBlocks() {
  if (has_vector()) {
    const int64_t rows = std::max<int64_t>(by_matrix_ != nullptr ? kVectorColumns : 1,
                                           kBlockProductsMin / 8 / std::max<int64_t>(1, view_.k));
    block_rows_ = std::clamp<int64_t>(view_.m, 1, rows);
    block_columns_ = std::clamp<int64_t>(view_.n, 1, rows);
    block_depth_ = std::max<int64_t>(1, view_.k);
    return;
  }
  const int width = hlo::ByteWidth(type_);
  const int64_t lhs_bytes = BestCpuLevel() == CpuLevel::kAvx512 ? kLhsBytesAvx512 : kLhsBytes;
  block_rows_ = EvenPiece(view_.m, lhs_bytes / (kDepth * width), tile_rows_);
  block_columns_ = EvenPiece(view_.n, kColumns, tile_columns_);
  block_depth_ = EvenPiece(view_.k, kDepth, 8);
  const auto blocks = [&] {
    return view_.batches() * CeilDiv(view_.m, block_rows_) * CeilDiv(view_.n, block_columns_);
  };
  while (blocks() % threads_ != 0 && blocks() < kBlocksEach * threads_) {
    if (WorkOf(block_rows_, block_columns_) <= 2 * kBlockProductsMin / std::max<int64_t>(1, view_.k)) break;
    if (block_columns_ >= block_rows_ && block_columns_ > tile_columns_) {
      block_columns_ = EvenPiece(block_columns_, CeilDiv(block_columns_, 2), tile_columns_);
    } else if (block_rows_ > tile_rows_) {
      block_rows_ = EvenPiece(block_rows_, CeilDiv(block_rows_, 2), tile_rows_);
    } else {
      break;
    }
  }
}

void PanelProduct::ReserveScratch() {
  const int width = hlo::ByteWidth(type_);
  if (has_vector()) lhs_.pack = rhs_.pack = nullptr;
  int64_t bytes = lhs_.pack != nullptr ? ScratchAlign(block_rows_ * block_depth_ * width) : 0;
  rhs_panel_offset_ = bytes;
  if (rhs_.pack != nullptr)
    bytes += ScratchAlign(std::min(kStrips * tile_columns_, block_columns_) * block_depth_ * width);
  out_offset_ = bytes;
  if (out_convert_ != nullptr) bytes += ScratchAlign(block_rows_ * block_columns_ * width);
  scratch_each_ = bytes;
}

PanelProduct::Block PanelProduct::BlockOf(int64_t job, const std::byte* lhs, const std::byte* rhs,
                                          std::byte* out) const {
  const int64_t down = CeilDiv(view_.m, block_rows_), across = CeilDiv(view_.n, block_columns_);
  const int64_t batch = job / (down * across);
  const int64_t row = job % (down * across) / across * block_rows_, column = job % across * block_columns_;
  const DotView::Offsets from = view_.OffsetsOf(batch);
  return {lhs + (from.lhs + row * view_.lhs_m) * lhs_.width,
          rhs + (from.rhs + column * view_.rhs_n) * rhs_.width,
          out + (batch * view_.m * view_.n + row * view_.n + column) * out_width_,
          std::min(block_rows_, view_.m - row), std::min(block_columns_, view_.n - column)};
}

template <typename T>
void PanelProduct::MultiplyStrip(const Block& block, int64_t column, int64_t k, int64_t depth,
                                 const T* lhs_panels, const T* rhs_panel, T* out, int64_t out_row) const {
  const PanelKernels<T>& kernels = GetPanelKernels<T>();
  PanelTile<T> tile{};
  tile.columns = static_cast<int>(std::min(tile_columns_, block.columns - column));
  tile.depth = depth;
  tile.adds = k > 0;
  tile.out_row = out_row;
  tile.rhs = rhs_panel;
  tile.rhs_depth = tile_columns_;
  if (rhs_panel == nullptr) {
    tile.rhs = reinterpret_cast<const T*>(block.rhs) + column * rhs_.lane_stride + k * rhs_.depth_stride;
    tile.rhs_depth = rhs_.depth_stride;
  }
  const int vectors = tile.columns > kernels.lanes ? 2 : 1;
  const bool packed = lhs_panels != nullptr && rhs_panel != nullptr;
  const auto& of_rows = packed ? kernels.packed : kernels.strided;
  const int64_t tiles = CeilDiv(block.rows, tile_rows_);
  for (int64_t t = 0, row = 0; t < tiles; ++t) {
    const int64_t rows = block.rows / tiles + (t < block.rows % tiles ? 1 : 0);
    if (lhs_panels != nullptr) {
      tile.lhs = lhs_panels + row * depth;
      tile.lhs_row = 1;
      tile.lhs_depth = rows;
    } else {
      tile.lhs = reinterpret_cast<const T*>(block.lhs) + row * lhs_.lane_stride + k * lhs_.depth_stride;
      tile.lhs_row = lhs_.lane_stride;
      tile.lhs_depth = lhs_.depth_stride;
    }
    tile.out = out + row * out_row + column;
    of_rows[rows - 1][vectors - 1](tile);
    row += rows;
  }
}

// Copies up to kStrips strips of rhs, one after another.
void PanelProduct::PackStrips(const Block& block, int64_t column, int64_t k, int64_t depth,
                              std::byte* panels) const {
  const int64_t width = hlo::ByteWidth(type_);
  const int64_t end = std::min(block.columns, column + kStrips * tile_columns_);
  for (int64_t d = 0; d < depth; d += kStripDepths) {
    std::byte* panel = panels + d * tile_columns_ * width;
    for (int64_t c = column; c < end; c += tile_columns_, panel += tile_columns_ * depth * width) {
      rhs_.pack(
          {block.rhs + (c * rhs_.lane_stride + (k + d) * rhs_.depth_stride) * rhs_.width, rhs_.lane_stride,
           rhs_.depth_stride, std::min(tile_columns_, end - c), std::min(kStripDepths, depth - d)},
          tile_columns_, panel);
    }
  }
}

void PanelProduct::RunVectorBlock(const Block& block, std::byte* scratch) const {
  std::byte* const sums = out_convert_ != nullptr ? scratch + out_offset_ : block.out;
  if (by_matrix_ != nullptr) {
    by_matrix_(block.lhs, lhs_.depth_stride, {block.rhs, 1, rhs_.depth_stride, block.columns, view_.k}, sums);
  } else if (view_.n == 1) {
    by_vector_({block.lhs, lhs_.lane_stride, 1, block.rows, view_.k}, block.rhs, sums);
  } else {
    by_vector_({block.rhs, rhs_.lane_stride, 1, block.columns, view_.k}, block.lhs, sums);
  }
  if (out_convert_ != nullptr) out_convert_(sums, block.out, block.rows * block.columns);
}

template <typename T>
void PanelProduct::RunBlock(const Block& block, std::byte* scratch, StopCheck& stop) const {
  T* const lhs_panels = lhs_.pack != nullptr ? reinterpret_cast<T*>(scratch) : nullptr;
  T* const rhs_panels = rhs_.pack != nullptr ? reinterpret_cast<T*>(scratch + rhs_panel_offset_) : nullptr;
  T* const sums = reinterpret_cast<T*>(out_convert_ != nullptr ? scratch + out_offset_ : block.out);
  const int64_t out_row = out_convert_ != nullptr ? block.columns : view_.n;
  const int64_t tiles = CeilDiv(block.rows, tile_rows_);
  for (int64_t k = 0; k < view_.k; k += block_depth_) {
    const int64_t depth = std::min(block_depth_, view_.k - k);
    for (int64_t t = 0, row = 0; t < tiles && lhs_panels != nullptr; ++t) {
      const int64_t rows = block.rows / tiles + (t < block.rows % tiles ? 1 : 0);
      lhs_.pack({block.lhs + (row * lhs_.lane_stride + k * lhs_.depth_stride) * lhs_.width, lhs_.lane_stride,
                 lhs_.depth_stride, rows, depth},
                rows, reinterpret_cast<std::byte*>(lhs_panels + row * depth));
      row += rows;
    }
    for (int64_t column = 0, strip = 0; column < block.columns; column += tile_columns_, ++strip) {
      if (rhs_panels != nullptr && strip % kStrips == 0)
        PackStrips(block, column, k, depth, reinterpret_cast<std::byte*>(rhs_panels));
      const T* panel = rhs_panels != nullptr ? rhs_panels + strip % kStrips * tile_columns_ * depth : nullptr;
      MultiplyStrip<T>(block, column, k, depth, lhs_panels, panel, sums, out_row);
      if (stop.Stops(block.rows * depth * tile_columns_ / 16)) return;
    }
  }
  if (out_convert_ == nullptr) return;
  for (int64_t row = 0; row < block.rows; ++row)
    out_convert_(reinterpret_cast<const std::byte*>(sums + row * out_row),
                 block.out + row * view_.n * out_width_, block.columns);
}

absl::Status PanelProduct::Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                               const StepContext& context) const {
  const int64_t jobs = view_.batches() * CeilDiv(view_.m, block_rows_) * CeilDiv(view_.n, block_columns_);
  const int64_t work = WorkOf(WorkOf(view_.batches(), WorkOf(view_.m, view_.n)), view_.k / 8 + 1);
  std::atomic<int64_t> next{0};
  const int64_t workers = std::min<int64_t>({threads_, context.threads, jobs});
  const int64_t turn = std::max<int64_t>(1, jobs / (workers * kTurnsEach));
  ParallelRanges(context.threads, workers, work, [&](int64_t, int64_t, int worker) {
    const WithoutSubnormals zeros;
    StopCheck stop(context.run);
    std::byte* const own = scratch + worker * scratch_each_;
    for (int64_t job; (job = next.fetch_add(turn, std::memory_order_relaxed)) < jobs;) {
      for (const int64_t end = std::min(jobs, job + turn); job < end; ++job) {
        const Block block = BlockOf(job, lhs, rhs, out);
        if (has_vector()) {
          RunVectorBlock(block, own);
        } else if (type_ == hlo::kF64) {
          RunBlock<double>(block, own, stop);
        } else {
          RunBlock<float>(block, own, stop);
        }
      }
      if (StopCheck::MustStop(context.run)) return;
    }
  });
  return StopCheck::Verdict(context.run);
}

}  // namespace hlod::engine
