// A dot's matrix products on oneDNN, cut into tiles that end within milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/dot.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// libdnnl cannot be interrupted, so a large product is split into many calls, between which a run may stop. A
// product of fewer than kTileFlops is one call.
class OneDnnMatmul {
 public:
  static constexpr double kTileFlops = 1e9;

  // Returns null if oneDNN has no kernel for it, apart from its reference kernels, which compute element by
  // element.
  static std::unique_ptr<OneDnnMatmul> Make(const DotView& view, hlo::PrimitiveType lhs,
                                            hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads);

  int64_t scratch_bytes() const { return scratch_bytes_; }
  // libdnnl's name of the chosen kernel.
  const std::string& implementation() const { return primitives_.begin()->second->implementation(); }

  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const;

 private:
  // One loop of the product: a batch dimension, m, n or k, in tiles of `tile`. Strides are in bytes.
  struct Loop {
    int64_t size, tile;
    int64_t lhs_stride, rhs_stride, out_stride;
    // The size of the shorter last tile; 0 if whole tiles fill the loop.
    int64_t tail() const { return size % tile; }
  };
  using Loops = absl::InlinedVector<Loop, 6>;  // The loops over batches, m, n, k.
  // A bit per loop that is at its shorter last tile, and above these a bit that is set when the product is
  // added to the output's contents.
  using TileKind = uint32_t;

  bool Prepare(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads);
  std::unique_ptr<OneDnnPrimitive> MakePrimitive(TileKind kind, int threads) const;
  TileKind AddsBit() const { return TileKind{1} << loops_.size(); }

  Loops loops_;
  int widths_[3] = {};
  dnnl::memory::data_type types_[3] = {};
  std::map<TileKind, std::unique_ptr<OneDnnPrimitive>> primitives_;
  int64_t scratch_bytes_ = 0;
};

}  // namespace hlod::engine
