// A dot's matrix products by the engine's own kernels, for f32 and f64, and for bf16 and f16, which are
// widened while they are copied.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/dot.h"
#include "server/engine/contraction/panels/panel_pack.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

class PanelProduct {
 public:
  // Returns null unless the result is f32, bf16 or f16 and the operands are, too, or all are f64.
  static std::unique_ptr<PanelProduct> Make(const DotView& view, hlo::PrimitiveType lhs,
                                            hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads);

  int64_t scratch_bytes() const { return threads_ * scratch_each_; }

  // The result's bits are the same for any number of threads.
  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const;

 private:
  // An operand: its strides in elements, and its copy into panels, null if kernels read it in place.
  struct Operand {
    int width;
    int64_t lane_stride, depth_stride;
    PackPanel pack;
  };
  // A block of the result: pointers to its first elements.
  struct Block {
    const std::byte *lhs, *rhs;
    std::byte* out;
    int64_t rows, columns;
  };

  bool has_vector() const { return by_vector_ != nullptr || by_matrix_ != nullptr; }
  void ChooseBlocks();
  void ReserveScratch();
  Block BlockOf(int64_t job, const std::byte* lhs, const std::byte* rhs, std::byte* out) const;
  // Computes the block; `scratch` is the worker's. Returns without a complete result when the run must stop.
  template <typename T>
  void RunBlock(const Block& block, std::byte* scratch, StopCheck& stop) const;
  void PackStrips(const Block& block, int64_t column, int64_t k, int64_t depth, std::byte* panels) const;
  // Computes a block of a product with a vector.
  void RunVectorBlock(const Block& block, std::byte* scratch) const;
  // Multiplies all rows of a block by one strip of columns, from depth k on.
  template <typename T>
  void MultiplyStrip(const Block& block, int64_t column, int64_t k, int64_t depth, const T* lhs_panels,
                     const T* rhs_panel, T* out, int64_t out_row) const;

  DotView view_;
  hlo::PrimitiveType type_ = hlo::kF32;  // The type of the sums.
  Operand lhs_{}, rhs_{};
  // Set if lhs is a row, and the rows of rhs are contiguous.
  MultiplyByMatrix by_matrix_ = nullptr;
  // Set if one operand is a vector, and the rows of the other one, along the depth, are contiguous.
  MultiplyByVector by_vector_ = nullptr;
  int out_width_ = 0;
  ConvertFunction out_convert_ = nullptr;
  int threads_ = 1;
  int64_t tile_rows_ = 0, tile_columns_ = 0;
  int64_t block_rows_ = 0, block_columns_ = 0, block_depth_ = 0;
  int64_t rhs_panel_offset_ = 0, out_offset_ = 0, scratch_each_ = 0;
};

}  // namespace hlod::engine
