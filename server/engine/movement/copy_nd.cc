// Prepares and runs strided copies; the inner loops are in run/copy_kernels.cc.
#include "server/engine/movement/copy_nd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/hlo/shape.h"
#include "server/engine/run/copy_kernels.h"
#include "server/engine/run/parallel.h"

namespace hlod::engine {
namespace {

using Loops = absl::InlinedVector<CopyDim, 6>;

// Returns the loops, of which neighbours are joined where one loop can express both.
Loops Joined(const Loops& loops) {
  Loops joined;
  for (const CopyDim& loop : loops) {
    if (!joined.empty()) {
      CopyDim& last = joined.back();
      if (last.src_stride == loop.src_stride * loop.size && last.dst_stride == loop.dst_stride * loop.size) {
        last = {last.size * loop.size, loop.src_stride, loop.dst_stride};
        continue;
      }
    }
    joined.push_back(loop);
  }
  return joined;
}

// Returns the bytes of an element. A contiguous run of 2 to 16 bytes is taken from the loops and treated as
// one wider element, so that a transpose of pairs remains a transpose.
int TakeWideElement(Loops& loops, int width) {
  if (loops.size() <= 1) return width;
  const CopyDim& last = loops.back();
  const int64_t run = last.size * width;
  const bool fits = run == 2 || run == 4 || run == 8 || run == 16;
  if (!fits || last.src_stride != width || last.dst_stride != width) return width;
  loops.pop_back();
  return static_cast<int>(run);
}

// Returns true if a transpose in blocks is worthwhile: of blocks, or of dense pairs and triples or to them.
bool Transposes(const CopyDim& rows, const CopyDim& inner, int width) {
  constexpr int64_t kSideMin = 4;
  if (rows.size >= kSideMin && inner.size >= kSideMin) return true;
  if (inner.size < kSideMin) return inner.size > 1 && rows.dst_stride == inner.size * width;
  return rows.size > 1 && inner.src_stride == rows.size * width;
}

}  // namespace

CopyNd::CopyNd(absl::Span<const CopyDim> dims, int width) : width_(width), elements_(1) {
  Loops loops;
  for (const CopyDim& dim : dims) {
    elements_ *= dim.size;
    if (dim.size != 1) loops.push_back(dim);
  }
  if (elements_ == 0) return;
  // The outermost loop has the largest destination stride, so that writes are as sequential as possible.
  std::stable_sort(loops.begin(), loops.end(),
                   [](const CopyDim& a, const CopyDim& b) { return a.dst_stride > b.dst_stride; });
  loops = Joined(loops);
  width_ = TakeWideElement(loops, width);
  ChooseKernel(loops);
  outer_.assign(loops.begin(), loops.end());
  for (const CopyDim& dim : outer_) outer_count_ *= dim.size;
}

void CopyNd::ChooseKernel(absl::InlinedVector<CopyDim, 6>& loops) {
  inner_ = {1, width_, width_};
  if (!loops.empty()) {
    inner_ = loops.back();
    loops.pop_back();
  }
  const auto take_rows = [&](size_t index) {
    rows_ = loops[index];
    loops.erase(loops.begin() + static_cast<ptrdiff_t>(index));
  };
  if (inner_.src_stride == width_ && inner_.dst_stride == width_) {
    kind_ = Kind::kRun;
    inner_ = {inner_.size * width_, 1, 1};
    if (loops.empty()) return;
    // With only a few short runs per row, loop overhead would dominate, so the longer loop is inside.
    constexpr int64_t kFew = 8, kShortBytes = 256;
    const size_t last = loops.size() - 1;
    const bool exchange = last > 0 && inner_.size <= kShortBytes && loops[last].size < kFew &&
                          loops[last - 1].size > loops[last].size;
    return take_rows(exchange ? last - 1 : last);
  }
  kind_ = inner_.src_stride == 0 && inner_.dst_stride == width_ ? Kind::kFill : Kind::kStrided;
  if (kind_ != Kind::kFill && inner_.dst_stride == width_) {
    for (size_t i = loops.size(); i-- > 0;) {
      if (loops[i].src_stride != width_ || !Transposes(loops[i], inner_, width_)) continue;
      kind_ = Kind::kTranspose;
      return take_rows(i);
    }
  }
  if (loops.empty()) return;
  take_rows(loops.size() - 1);
  // With only a few elements per row, loop overhead would dominate, so the loops are exchanged.
  if (inner_.size < 8 && rows_.size > inner_.size) {
    std::swap(inner_, rows_);
    kind_ = Kind::kStrided;
  }
}

absl::Status CopyNd::Run(const std::byte* src, std::byte* dst, const StepContext& context) const {
  if (kind_ == Kind::kNothing) return absl::OkStatus();
  const int64_t rows = outer_count_ * rows_.size;
  // A memcpy moves many elements in the time that the other kernels move one.
  const int64_t work = kind_ == Kind::kRun ? elements_ * width_ / 16 : elements_;
  const bool rows_are_pieces = work <= StopCheck::kPieceWork || work / rows <= StopCheck::kPieceWork;
  if ((rows >= 2 * context.threads || rows >= inner_.size) && rows_are_pieces) {
    return ParallelPieces(context, rows, work, [&](int64_t begin, int64_t end, int) {
      RunRows(src, dst, begin, end, 0, inner_.size);
    });
  }
  return ParallelPieces(context, inner_.size, work,
                        [&](int64_t begin, int64_t end, int) { RunRows(src, dst, 0, rows, begin, end); });
}

void CopyNd::RunHere(const std::byte* src, std::byte* dst) const {
  if (kind_ != Kind::kNothing) RunRows(src, dst, 0, outer_count_ * rows_.size, 0, inner_.size);
}

void CopyNd::RunRows(const std::byte* src, std::byte* dst, int64_t row_begin, int64_t row_end,
                     int64_t inner_begin, int64_t inner_end) const {
  src += inner_begin * inner_.src_stride;
  dst += inner_begin * inner_.dst_stride;
  const int64_t inner = inner_end - inner_begin;
  if (outer_.empty()) {
    RunBlock(src + row_begin * rows_.src_stride, dst + row_begin * rows_.dst_stride, row_end - row_begin,
             inner);
    return;
  }
  // Starts the outer loops at row_begin, then advances them like an odometer.
  std::array<int64_t, hlo::kMaxRank> index;
  int64_t rest = row_begin / rows_.size;
  int64_t row = row_begin % rows_.size;
  for (size_t i = outer_.size(); i-- > 0;) {
    index[i] = rest % outer_[i].size;
    rest /= outer_[i].size;
    src += index[i] * outer_[i].src_stride;
    dst += index[i] * outer_[i].dst_stride;
  }
  for (int64_t left = row_end - row_begin; left > 0;) {
    const int64_t rows = std::min(rows_.size - row, left);
    RunBlock(src + row * rows_.src_stride, dst + row * rows_.dst_stride, rows, inner);
    left -= rows;
    row = 0;
    for (size_t i = outer_.size(); i-- > 0;) {
      src += outer_[i].src_stride;
      dst += outer_[i].dst_stride;
      if (++index[i] < outer_[i].size) break;
      src -= index[i] * outer_[i].src_stride;
      dst -= index[i] * outer_[i].dst_stride;
      index[i] = 0;
    }
  }
}

void CopyNd::RunBlock(const std::byte* src, std::byte* dst, int64_t rows, int64_t inner) const {
  switch (kind_) {
    case Kind::kNothing: return;
    case Kind::kRun: return CopyRuns(src, dst, rows, rows_.src_stride, rows_.dst_stride, inner);
    case Kind::kFill: return FillRows(src, dst, rows, rows_.src_stride, rows_.dst_stride, inner, width_);
    case Kind::kTranspose:
      return TransposeBlock(src, dst, rows, rows_.dst_stride, inner, inner_.src_stride, width_);
    case Kind::kStrided:
      return CopyStrided(src, dst, rows, rows_.src_stride, rows_.dst_stride, inner, inner_.src_stride,
                         inner_.dst_stride, width_);
  }
}

CopyNd MakeCopyNd(absl::Span<const int64_t> sizes, absl::Span<const int64_t> src_strides,
                  absl::Span<const int64_t> dst_strides, int width) {
  absl::InlinedVector<CopyDim, 6> dims;
  for (size_t i = 0; i < sizes.size(); ++i)
    dims.push_back({sizes[i], src_strides[i] * width, dst_strides[i] * width});
  return CopyNd(dims, width);
}

}  // namespace hlod::engine
