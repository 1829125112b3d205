// Layouts as the framework holds them.
//
// The daemon keeps every array dense and row-major. The layout that a framework states for a buffer, an
// argument or a result is kept beside it and reported as stated: frameworks see elements by their indices,
// and compare layouts by what is reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/pjrt/abi/buffer.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt {

// The order of an array's dimensions, minor first.
using DimensionOrder = std::vector<int64_t>;

DimensionOrder RowMajorOrder(size_t rank);
// Returns the order of a layout that is dense: without tiles, and without gaps. INVALID_ARGUMENT when the
// layout is not one of the shape; UNIMPLEMENTED when it is not dense.
absl::StatusOr<DimensionOrder> OrderOf(const abi::Buffer_MemoryLayout& layout, const hlo::Shape& shape);
// Reads XLA's text of a layout, "{1,0}". UNIMPLEMENTED for tiles and other properties.
absl::StatusOr<DimensionOrder> ParseOrder(std::string_view text, size_t rank);

// A layout in XLA's text, "{1,0}".
class MemoryLayout {
 public:
  explicit MemoryLayout(absl::Span<const int64_t> minor_to_major);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace hlod::pjrt
