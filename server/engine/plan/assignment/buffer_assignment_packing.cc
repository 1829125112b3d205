// Packs in two ways and keeps the smaller arena. Placing the largest item first into the smallest gap that
// fits is better but quadratic, so it is tried for up to a few hundred items. A sweep through time with a
// best-fit free list handles any number.
#include "server/engine/plan/assignment/buffer_assignment_packing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "common/base/arithmetic.h"

namespace hlod::engine {
namespace {

constexpr size_t kLargestFirstMax = 768;

// The free ranges by offset and by size. Adjacent ranges are merged.
class FreeList {
 public:
  // Takes `bytes` from the smallest range that is large enough, or extends the arena. Returns nullopt if that
  // overflows.
  std::optional<int64_t> Take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    int64_t offset, size;
    if (fit != by_size_.end()) {
      size = fit->first;
      offset = fit->second;
      by_offset_.erase(offset);
      by_size_.erase(fit);
    } else {
      // A free range at the arena's end is extended instead of left behind.
      offset = top_;
      size = 0;
      if (!by_offset_.empty()) {
        const auto last = std::prev(by_offset_.end());
        if (last->first + last->second == top_) {
          offset = last->first;
          by_size_.erase({last->second, last->first});
          by_offset_.erase(last);
        }
      }
      const std::optional<int64_t> top = CheckedAdd(offset, bytes);
      if (!top.has_value()) return std::nullopt;
      top_ = *top;
      size = bytes;
    }
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void Give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      by_size_.erase({next->second, next->first});
      next = by_offset_.erase(next);
    }
    if (next != by_offset_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        offset = previous->first;
        bytes += previous->second;
        by_size_.erase({previous->second, previous->first});
        by_offset_.erase(previous);
      }
    }
    Insert(offset, bytes);
  }

  int64_t top() const { return top_; }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t top_ = 0;
};

std::optional<int64_t> PackBySweep(std::vector<PackItem>& items) {
  std::vector<int32_t> by_start(items.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::vector<int32_t> by_end = by_start;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](int32_t a, int32_t b) { return items[a].start < items[b].start; });
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](int32_t a, int32_t b) { return items[a].end < items[b].end; });
  FreeList free;
  size_t ended = 0;
  for (int32_t i : by_start) {
    for (; ended < items.size() && items[by_end[ended]].end < items[i].start; ++ended) {
      free.Give(items[by_end[ended]].offset, items[by_end[ended]].bytes);
    }
    const std::optional<int64_t> offset = free.Take(items[i].bytes);
    if (!offset.has_value()) return std::nullopt;
    items[i].offset = *offset;
  }
  return free.top();
}

std::optional<int64_t> PackLargestFirst(std::vector<PackItem>& items) {
  std::vector<int32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return items[a].bytes > items[b].bytes; });
  std::vector<int32_t> placed;  // The placed items, by offset.
  int64_t top = 0;
  for (int32_t i : order) {
    PackItem& item = items[i];
    int64_t gap_begin = 0, best_offset = -1, best_size = INT64_MAX;
    for (int32_t p : placed) {
      const PackItem& other = items[p];
      if (other.end < item.start || item.end < other.start) continue;
      const int64_t gap = other.offset - gap_begin;
      if (gap >= item.bytes && gap < best_size) {
        best_offset = gap_begin;
        best_size = gap;
      }
      gap_begin = std::max(gap_begin, other.offset + other.bytes);
    }
    item.offset = best_offset >= 0 ? best_offset : gap_begin;
    const std::optional<int64_t> end = CheckedAdd(item.offset, item.bytes);
    if (!end.has_value()) return std::nullopt;
    top = std::max(top, *end);
    const auto at = std::lower_bound(placed.begin(), placed.end(), item.offset,
                                     [&](int32_t p, int64_t offset) { return items[p].offset < offset; });
    placed.insert(at, i);
  }
  return top;
}

}  // namespace

std::optional<int64_t> Pack(std::vector<PackItem>& items, int64_t alignment) {
  for (PackItem& item : items) {
    if (item.bytes > INT64_MAX - alignment) return std::nullopt;
    item.bytes = AlignUp(item.bytes, alignment);
  }
  std::optional<int64_t> size = PackBySweep(items);
  if (items.size() > kLargestFirstMax) return size;
  std::vector<PackItem> other = items;
  const std::optional<int64_t> other_size = PackLargestFirst(other);
  if (other_size.has_value() && (!size.has_value() || *other_size < *size)) {
    items = std::move(other);
    size = other_size;
  }
  return size;
}

}  // namespace hlod::engine
