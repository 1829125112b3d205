// The strided N-dimensional copy that all data movement is made of: transpose, broadcast, reverse, slice,
// pad, gather of windows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// One loop of a copy. Strides are in bytes. The source's may be zero (broadcast) or negative (reverse), the
// destination's may not.
struct CopyDim {
  int64_t size, src_stride, dst_stride;
};

// A prepared copy of elements of `width` bytes. Immutable; Run allocates no memory and may be called
// concurrently.
//
// Preparing drops loops of one iteration, orders the others by destination, joins neighbours that are
// contiguous on both sides, and picks the inner kernel: contiguous runs (memcpy), fill, transpose of two
// loops in cache-sized blocks, or strided elements.
class CopyNd {
 public:
  CopyNd() = default;  // Does not copy anything.
  CopyNd(absl::Span<const CopyDim> dims, int width);

  // Copies element (i0, i1, ...) from src + sum(i * src_stride) to dst + sum(i * dst_stride). Source and
  // destination must not overlap. Runs on the context's team; returns CANCELLED or DEADLINE_EXCEEDED when the
  // run has to stop.
  absl::Status Run(const std::byte* src, std::byte* dst, const StepContext& context) const;
  // Copies on this thread, without stopping: for copies of few elements.
  void RunHere(const std::byte* src, std::byte* dst) const;

  int64_t elements() const { return elements_; }
  // The bytes of the copy when it is one memcpy; else 0.
  int64_t contiguous_bytes() const {
    return kind_ == Kind::kRun && outer_.empty() && rows_.size == 1 ? inner_.size : 0;
  }

 private:
  enum class Kind : uint8_t { kNothing, kRun, kFill, kTranspose, kStrided };
  // Chooses the kernel and the two loops that it runs, and takes these from `loops`.
  void ChooseKernel(absl::InlinedVector<CopyDim, 6>& loops);
  void RunRows(const std::byte* src, std::byte* dst, int64_t row_begin, int64_t row_end, int64_t inner_begin,
               int64_t inner_end) const;
  void RunBlock(const std::byte* src, std::byte* dst, int64_t rows, int64_t inner) const;

  Kind kind_ = Kind::kNothing;
  int width_ = 1;
  int64_t elements_ = 0;
  // The two inner loops, which a kernel runs. With kRun, inner_ counts bytes.
  CopyDim rows_{1, 0, 0}, inner_{1, 0, 0};
  int64_t outer_count_ = 1;
  absl::InlinedVector<CopyDim, 4> outer_;
};

// Returns a copy of a box of `sizes` whose strides are given in elements.
CopyNd MakeCopyNd(absl::Span<const int64_t> sizes, absl::Span<const int64_t> src_strides,
                  absl::Span<const int64_t> dst_strides, int width);

}  // namespace hlod::engine
