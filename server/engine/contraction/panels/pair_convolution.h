// Convolutions of integers of 8 and 16 bits, whose sums are exact in 32 bits, or wrap as HLO's do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/hlo/primitive_type.h"
#include "server/engine/contraction/convolution.h"
#include "server/engine/contraction/panels/pair_kernels.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

class PairConvolution {
 public:
  // Returns null unless SumsInPairs, or if there are groups of batches, a group has few features, or the
  // windows reach far beyond lhs.
  static std::unique_ptr<PairConvolution> Make(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                               hlo::PrimitiveType rhs, hlo::PrimitiveType out);

  int64_t scratch_bytes() const { return panels_offset_ + panels_bytes_; }

  // Writes sums of 32 bits.
  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const;

 private:
  // Widens the places [begin, end) of a batch's padded lhs, numbered along all axes.
  void PadPlaces(const std::byte* lhs, int16_t* padded, int64_t begin, int64_t end) const;
  // Copies the weights of strips, numbered over all groups.
  void PackStrips(const std::byte* rhs, int16_t* panels, int64_t begin, int64_t end) const;
  // Computes a line of the result along the axis `line_`, for all outputs of all groups.
  void RunLine(int64_t line, const int16_t* padded, const int16_t* panels, int32_t* out,
               StopCheck& stop) const;
  void RunTile(const PairTile& tile, int height, int32_t* out) const;

  ConvolutionForm form_;
  size_t line_ = 0;
  int lhs_type_ = 0, rhs_type_ = 0, lhs_width_ = 0, rhs_width_ = 0;
  // The padded lhs, per axis, and the places of one of its batches.
  std::vector<int64_t> sizes_, strides_;
  int64_t places_ = 1;
  int64_t pairs_ = 0, place_ = 0;   // The pairs of a group, and the elements of a place.
  int64_t outputs_ = 0;             // The outputs of a group.
  int64_t strip_ = 0, strips_ = 0;  // The columns of a strip, and the strips of a group.
  // The offsets of the kernel's positions, in the padded lhs and in rhs.
  std::vector<int64_t> taps_, weights_;
  int64_t panels_offset_ = 0, panels_bytes_ = 0;
};

}  // namespace hlod::engine
