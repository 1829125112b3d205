// Converts orders of dimensions from and to the interface's layouts and XLA's text.
#include "client/pjrt/buffers/memory_layout.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "absl/strings/str_join.h"
#include "client/pjrt/buffers/strides.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

abi::Buffer_MemoryLayout LayoutOf(const DimensionOrder& order) {
  abi::Buffer_MemoryLayout layout = {};
  layout.type = abi::LayoutType::kTiled;
  layout.tiled = {};
  layout.tiled.minor_to_major = order.data();
  layout.tiled.minor_to_major_size = order.size();
  return layout;
}

}  // namespace

DimensionOrder RowMajorOrder(size_t rank) {
  DimensionOrder order(rank);
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  return order;
}

absl::StatusOr<DimensionOrder> OrderOf(const abi::Buffer_MemoryLayout& layout, const hlo::Shape& shape) {
  ASSIGN_OR_RETURN(const Strides strides, StridesOf(layout, shape));
  if (layout.type == abi::LayoutType::kTiled) {
    return DimensionOrder(layout.tiled.minor_to_major,
                          layout.tiled.minor_to_major + layout.tiled.minor_to_major_size);
  }
  // Dimensions with equal strides, which have size 1, keep their row-major order.
  DimensionOrder order = RowMajorOrder(shape.dims.size());
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] < strides[static_cast<size_t>(b)];
  });
  ASSIGN_OR_RETURN(const Strides dense, StridesOf(LayoutOf(order), shape));
  for (size_t i = 0; i < dense.size(); ++i) {
    if (shape.dims[i] > 1 && strides[i] != dense[i])
      return Unimplemented("A device's array is dense: dimension %d has stride %d, not %d.", i, strides[i],
                           dense[i]);
  }
  return order;
}

absl::StatusOr<DimensionOrder> ParseOrder(std::string_view text, size_t rank) {
  DimensionOrder order;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto skip = [&](char c) { return at != end && *at == c ? (++at, true) : false; };
  bool is_read = skip('{');
  while (is_read && at != end && *at != '}' && *at != ':') {
    is_read = order.empty() || skip(',');
    const auto [next, error] = std::from_chars(at, end, order.emplace_back());
    is_read = is_read && error == std::errc();
    at = next;
  }
  if (is_read && at != end && *at == ':')
    return Unimplemented("The layout %s: hlod's arrays have no tiles or other properties.", text);
  DimensionOrder sorted = order;
  std::sort(sorted.begin(), sorted.end());
  DimensionOrder all(rank);
  std::iota(all.begin(), all.end(), int64_t{0});
  if (!is_read || !skip('}') || at != end || sorted != all)
    return InvalidArgument("\"%s\" is not a layout of %d dimensions, such as {1,0}.", text, rank);
  return order;
}

MemoryLayout::MemoryLayout(absl::Span<const int64_t> minor_to_major)
    : text_("{" + absl::StrJoin(minor_to_major, ",") + "}") {}

}  // namespace hlod::pjrt
