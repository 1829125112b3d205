// A dot's matrix products of integers of 8 and 16 bits, whose sums are exact in 32 bits, or wrap as HLO's do.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/dot.h"
#include "server/engine/contraction/panels/pair_kernels.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

class PairProduct {
 public:
  // Returns null unless SumsInPairs, or if the result has so few rows or columns that copies would not pay.
  static std::unique_ptr<PairProduct> Make(const DotView& view, hlo::PrimitiveType lhs,
                                           hlo::PrimitiveType rhs, hlo::PrimitiveType out);

  int64_t scratch_bytes() const { return rhs_offset_ + panels_bytes_; }

  // Writes sums of 32 bits.
  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const;

 private:
  struct Operand {
    int type, width;
    int64_t lane_stride, depth_stride;
  };

  void WidenRows(const std::byte* lhs, int16_t* rows, int64_t begin, int64_t end) const;
  void PackStrips(const std::byte* rhs, int16_t* panels, int64_t begin, int64_t end) const;
  // Computes the block of a result's rows and strips.
  void RunBlock(int64_t job, const int16_t* rows, const int16_t* panels, int32_t* out, StopCheck& stop) const;

  DotView view_;
  Operand lhs_{}, rhs_{};
  int64_t pairs_ = 0;               // The pairs of the depth.
  int64_t row_ = 0;                 // The elements from one widened row of lhs to the next.
  int64_t strip_ = 0, strips_ = 0;  // The columns of a strip, and the strips of a product.
  int64_t blocks_down_ = 0, blocks_across_ = 0;
  int64_t rhs_offset_ = 0, panels_bytes_ = 0;
};

}  // namespace hlod::engine
