// Chooses tiles, creates a primitive for each kind of tile, and iterates over the tiles.
#include "server/engine/contraction/onednn_matmul.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"

namespace hlod::engine {
namespace {

// The minimum length of tiles along m and n, if possible, so that a kernel can reuse enough.
constexpr int64_t kSideMin = 512, kSideMinAtAll = 64, kDepthMin = 2048;

}  // namespace

std::unique_ptr<OneDnnMatmul> OneDnnMatmul::Make(const DotView& view, hlo::PrimitiveType lhs,
                                                 hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                 int threads) {
  if (!OneDnnType(lhs) || !OneDnnType(rhs) || !OneDnnType(out)) return nullptr;
  auto matmul = std::make_unique<OneDnnMatmul>();
  int64_t out_stride = view.m * view.n;
  Loops& loops = matmul->loops_;
  loops.resize(view.batch.size());
  for (size_t i = view.batch.size(); i-- > 0;) {
    const DotView::Batch& b = view.batch[i];
    loops[i] = {b.size, b.size, b.lhs_stride, b.rhs_stride, out_stride};
    out_stride *= b.size;
  }
  loops.push_back({view.m, view.m, view.lhs_m, 0, view.n});
  loops.push_back({view.n, view.n, 0, view.rhs_n, 1});
  loops.push_back({view.k, view.k, view.lhs_k, view.rhs_k, 0});

  // Each loop, from the outermost on, is split until a tile is short enough.
  double flops = view.flops();
  const auto cut = [&](Loop& loop, int64_t least) {
    if (flops <= kTileFlops) return;
    const auto wanted = static_cast<int64_t>(static_cast<double>(loop.tile) * kTileFlops / flops);
    const int64_t tile = std::clamp(wanted / least * least, std::min(least, loop.tile), loop.tile);
    flops = flops / static_cast<double>(loop.tile) * static_cast<double>(tile);
    loop.tile = tile;
  };
  const size_t m = loops.size() - 3, n = m + 1, k = m + 2;
  for (size_t i = 0; i < m; ++i) cut(loops[i], 1);
  cut(loops[m], kSideMin);
  cut(loops[n], kSideMin);
  // Partial sums are kept in the output, so the depth is split only if that does not lose precision: oneDNN
  // adds to integers in f32.
  if (out == hlo::kF32) cut(loops[k], kDepthMin);
  cut(loops[m], kSideMinAtAll);
  cut(loops[n], kSideMinAtAll);
  if (matmul->Prepare(lhs, rhs, out, threads)) return matmul;
  // A product that cannot be interrupted is better than a reference kernel.
  for (Loop& loop : loops) loop.tile = loop.size;
  return matmul->Prepare(lhs, rhs, out, threads) ? std::move(matmul) : nullptr;
}

// Makes the primitive of every kind of tile that occurs. Returns false if oneDNN lacks one.
bool OneDnnMatmul::Prepare(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                           int threads) {
  const hlo::PrimitiveType types[3] = {lhs, rhs, out};
  for (int i = 0; i < 3; ++i) {
    types_[i] = *OneDnnType(types[i]);
    widths_[i] = hlo::ByteWidth(types[i]);
  }
  primitives_.clear();
  scratch_bytes_ = 0;
  const Loop& depth = loops_.back();
  const TileKind last_depth = TileKind{1} << (loops_.size() - 1);
  for (TileKind kind = 0; kind < 2 * AddsBit(); ++kind) {
    bool occurs = true;
    for (size_t i = 0; i < loops_.size(); ++i) {
      const bool at_tail = (kind >> i & 1) != 0;
      occurs = occurs && (!at_tail || loops_[i].tail() > 0);
    }
    // The first tile along the depth is a whole one, and overwrites.
    const bool adds = (kind & AddsBit()) != 0, at_last = (kind & last_depth) != 0;
    occurs =
        occurs && (adds ? depth.tile < depth.size && (at_last || depth.size >= 2 * depth.tile) : !at_last);
    if (!occurs) continue;
    std::unique_ptr<OneDnnPrimitive> primitive =
        TryOneDnn(threads, [&] { return MakePrimitive(kind, threads); });
    if (primitive == nullptr || primitive->implementation().find("ref") != std::string::npos) return false;
    scratch_bytes_ = std::max(scratch_bytes_, primitive->scratch_bytes());
    primitives_[kind] = std::move(primitive);
  }
  return true;
}

std::unique_ptr<OneDnnPrimitive> OneDnnMatmul::MakePrimitive(TileKind kind, int threads) const {
  const auto size = [&](size_t i) { return (kind >> i & 1) != 0 ? loops_[i].tail() : loops_[i].tile; };
  const size_t batches = loops_.size() - 3, m = batches, n = m + 1, k = m + 2;
  // Describes an operand: its batches, then its rows and columns.
  const auto describe = [&](int operand, size_t rows, size_t columns, int64_t Loop::* stride) {
    hlo::Dims dims, strides;
    for (size_t i = 0; i < batches; ++i) {
      dims.push_back(size(i));
      strides.push_back(loops_[i].*stride);
    }
    for (size_t i : {rows, columns}) {
      dims.push_back(size(i));
      strides.push_back(loops_[i].*stride);
    }
    return OneDnnDesc(dims, strides, types_[operand]);
  };
  const dnnl::memory::desc a = describe(0, m, k, &Loop::lhs_stride), b = describe(1, k, n, &Loop::rhs_stride),
                           c = describe(2, m, n, &Loop::out_stride);
  dnnl::primitive_attr attributes = OneDnnAttributes();
  if ((kind & AddsBit()) != 0) {
    dnnl::post_ops add;
    add.append_sum(1.0f);
    attributes.set_post_ops(add);
  }
  const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, c), attributes, OneDnnEngine(), true);
  if (!pd) return nullptr;
  return std::make_unique<OneDnnPrimitive>(
      dnnl::matmul(pd),
      std::vector<OneDnnPrimitive::Argument>{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}},
      pd.scratchpad_desc(), threads, pd.impl_info_str());
}

absl::Status OneDnnMatmul::Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                               const StepContext& context) const {
  const size_t depth = loops_.size() - 1;
  absl::InlinedVector<int64_t, 6> at(loops_.size(), 0);  // The first index of the current tile in each loop.
  while (true) {
    TileKind kind = at[depth] > 0 ? AddsBit() : 0;
    int64_t offset[3] = {};
    for (size_t i = 0; i < loops_.size(); ++i) {
      const Loop& loop = loops_[i];
      if (loop.size - at[i] < loop.tile) kind |= TileKind{1} << i;
      offset[0] += at[i] * loop.lhs_stride;
      offset[1] += at[i] * loop.rhs_stride;
      offset[2] += at[i] * loop.out_stride;
    }
    std::byte* const pointers[] = {const_cast<std::byte*>(lhs) + offset[0] * widths_[0],
                                   const_cast<std::byte*>(rhs) + offset[1] * widths_[1],
                                   out + offset[2] * widths_[2]};
    RETURN_IF_ERROR(primitives_.at(kind)->Run(pointers, scratch));
    size_t i = loops_.size();
    while (i-- > 0) {
      if ((at[i] += loops_[i].tile) < loops_[i].size) break;
      at[i] = 0;
      if (i == 0) return absl::OkStatus();
    }
    RETURN_IF_ERROR(StopCheck::Verdict(context.run));
  }
}

}  // namespace hlod::engine
