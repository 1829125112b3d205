// A dot's dimensions viewed as batches of matrices: the form between HLO's dimension numbers and a kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "common/hlo/attributes.h"
#include "common/hlo/module.h"
#include "server/engine/movement/copy_nd.h"

namespace hlod::engine {

// The sizes and strides (in elements) of out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]. The output
// is dense.
struct DotView {
  struct Batch {
    int64_t size, lhs_stride, rhs_stride;
  };
  absl::InlinedVector<Batch, 3> batch;
  int64_t m = 1, n = 1, k = 1;
  int64_t lhs_m = 0, lhs_k = 0;
  int64_t rhs_k = 0, rhs_n = 0;
  bool adds = false;  // Adds to the output's contents instead of overwriting them; only LoopDot can do that.

  int64_t batches() const {
    int64_t count = 1;
    for (const Batch& b : batch) count *= b.size;
    return count;
  }
  // Returns where the matrices of a batch begin in the operands, in elements; `index` counts the batches, the
  // last dimension fastest.
  struct Offsets {
    int64_t lhs = 0, rhs = 0;
  };
  Offsets OffsetsOf(int64_t index) const {
    Offsets offsets;
    for (size_t i = batch.size(); i-- > 0; index /= batch[i].size) {
      offsets.lhs += index % batch[i].size * batch[i].lhs_stride;
      offsets.rhs += index % batch[i].size * batch[i].rhs_stride;
    }
    return offsets;
  }
  // Returns true for many products of a short row with a column: their sums are too short for a library.
  bool is_points() const {
    constexpr int64_t kBatchesMin = 16, kDepthMax = 32;
    return m == 1 && n == 1 && k <= kDepthMax && batches() >= kBatchesMin;
  }
  // Returns true for many products of matrices of a few rows and columns, in floats of one type: unrolled
  // loops take less time than the beginning of any other.
  bool is_tiny() const {
    constexpr int64_t kBatchesMin = 16, kSideMin = 2;
    const auto fits = [](int64_t size) { return size >= kSideMin && size <= kTinySideMax; };
    return m <= 2 * kTinySideMax && fits(n) && fits(k) && batches() >= kBatchesMin;
  }
  static constexpr int64_t kTinySideMax = 4;
  double flops() const {
    return 2.0 * static_cast<double>(batches()) * static_cast<double>(m) * static_cast<double>(n) *
           static_cast<double>(k);
  }
};

// A prepared dot: its view, and per operand the copy to dense [batch, m, k] or [batch, k, n] that it needs
// first, if any.
struct DotForm {
  DotView view;
  std::optional<CopyNd> lhs_copy, rhs_copy;  // In elements of the operand's width.
};

// Returns the form of a dot. `force_copy` copies both operands even if strides could describe them.
// `lhs_width` and `rhs_width` are the bytes per element when the copies run.
DotForm MakeDotForm(hlo::Instruction dot, int lhs_width, int rhs_width, bool force_copy);

// Computes the dot with the engine's own loops, in a contraction type (compute_types.h) without a library,
// over dense or strided views.
absl::Status LoopDot(hlo::PrimitiveType type, const DotView& view, const std::byte* lhs, const std::byte* rhs,
                     std::byte* out, const StepContext& context);

}  // namespace hlod::engine
