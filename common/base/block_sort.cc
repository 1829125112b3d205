// Quicksort, breadth first. On each level every segment has a random pivot, all other elements are compared
// with the pivots of their segments in blocks, and each segment is partitioned stably: the elements before
// the pivot, the pivot, the others. The segments left and right of the pivot are those of the next level.
//
// The elements of a segment stay in their original order, so ties are broken by position, and one comparison
// per pair is enough: of two elements, the later one goes first if and only if it is less. Hence exactly one
// element of every pair goes first, even if the comparator is inconsistent; and for any such relation a
// random pivot has, with probability at least one half, an eighth of the elements on each side. Equal
// elements do not slow this down, because they are distributed to both sides.
#include "common/base/block_sort.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hlod {
namespace {

int64_t Aligned(int64_t bytes) { return (bytes + 7) / 8 * 8; }

// Returns a segment's pivot position, the same at each call (splitmix64's finaliser).
uint32_t PivotOf(uint32_t begin, uint32_t end) {
  uint64_t x = (uint64_t{begin} << 32 | end) + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  return begin + static_cast<uint32_t>(x % (end - begin));
}

template <typename Body>
bool InPieces(uint32_t begin, uint32_t end, BlockSorter::Stops stops, Body body) {
  constexpr uint32_t kPiece = 1 << 16;
  while (begin < end) {
    const uint32_t to = end - begin > kPiece ? begin + kPiece : end;
    body(begin, to);
    if (stops(to - begin)) return false;
    begin = to;
  }
  return true;
}

}  // namespace

// A block of comparisons that is being collected.
class BlockSorter::Questions {
 public:
  Questions(Less less, bool* before) : less_(less), before_(before) {}

  bool Add(uint32_t place, bool is_later, uint32_t later, uint32_t earlier) {
    later_[count_] = later;
    earlier_[count_] = earlier;
    places_[count_] = place;
    is_later_[count_] = is_later;
    return ++count_ < kBlock || Ask();
  }
  bool Ask() {
    if (count_ == 0) return true;
    if (!less_(later_, earlier_, count_, answers_)) return false;
    for (int64_t i = 0; i < count_; ++i) before_[places_[i]] = (answers_[i] != 0) == is_later_[i];
    count_ = 0;
    return true;
  }

 private:
  const Less less_;
  bool* const before_;
  int64_t count_ = 0;
  uint32_t later_[kBlock], earlier_[kBlock], places_[kBlock];
  bool is_later_[kBlock];
  uint8_t answers_[kBlock];
};

int64_t BlockSorter::ScratchBytes(int64_t count) {
  const int64_t segments = count / 2 * static_cast<int64_t>(sizeof(Segment));
  return 2 * segments + 2 * Aligned(count * static_cast<int64_t>(sizeof(uint32_t))) + Aligned(count);
}

BlockSorter::BlockSorter(std::byte* scratch, int64_t count) : count_(count) {
  const int64_t segments = count / 2 * static_cast<int64_t>(sizeof(Segment));
  const int64_t places = Aligned(count * static_cast<int64_t>(sizeof(uint32_t)));
  segments_ = reinterpret_cast<Segment*>(scratch);
  parts_ = reinterpret_cast<Segment*>(scratch += segments);
  order_ = reinterpret_cast<uint32_t*>(scratch += segments);
  next_ = reinterpret_cast<uint32_t*>(scratch += places);
  before_ = reinterpret_cast<bool*>(scratch + places);
}

bool BlockSorter::Sort(Less less, Stops stops) {
  const bool numbered = InPieces(0, static_cast<uint32_t>(count_), stops, [&](uint32_t begin, uint32_t end) {
    std::iota(order_ + begin, order_ + end, begin);
  });
  if (!numbered) return false;
  int64_t segments = 0;
  if (count_ > 1) segments_[segments++] = {0, static_cast<uint32_t>(count_)};
  while (segments > 0) {
    if (!AskAll(less, segments_, segments)) return false;
    parts_count_ = 0;
    for (int64_t s = 0; s < segments; ++s) {
      if (!Partition(segments_[s], stops)) return false;
    }
    segments = parts_count_;
    std::swap(segments_, parts_);
  }
  return true;
}

bool BlockSorter::AskAll(Less less, const Segment* segments, int64_t count) {
  Questions questions(less, before_);
  for (int64_t s = 0; s < count; ++s) {
    const auto [begin, end] = segments[s];
    const uint32_t at = PivotOf(begin, end), pivot = order_[at];
    for (uint32_t i = begin; i < at; ++i) {
      if (!questions.Add(i, false, pivot, order_[i])) return false;
    }
    for (uint32_t i = at + 1; i < end; ++i) {
      if (!questions.Add(i, true, order_[i], pivot)) return false;
    }
  }
  return questions.Ask();
}

bool BlockSorter::Partition(Segment segment, Stops stops) {
  const auto [begin, end] = segment;
  const uint32_t at = PivotOf(begin, end), pivot = order_[at];
  uint32_t left = begin, right = end;  // The elements after the pivot are collected backwards from the end.
  const bool parted = InPieces(begin, end, stops, [&](uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
      if (i == at) continue;
      if (before_[i]) next_[left++] = order_[i];
      else next_[--right] = order_[i];
    }
  });
  if (!parted) return false;
  order_[left] = pivot;
  const bool kept =
      InPieces(begin, left, stops,
               [&](uint32_t from, uint32_t to) { std::copy(next_ + from, next_ + to, order_ + from); }) &&
      InPieces(right, end, stops, [&](uint32_t from, uint32_t to) {
        for (uint32_t i = from; i < to; ++i) order_[i] = next_[end - 1 - (i - right)];
      });
  if (!kept) return false;
  if (left - begin > 1) parts_[parts_count_++] = {begin, left};
  if (end - right > 1) parts_[parts_count_++] = {right, end};
  return true;
}

}  // namespace hlod
