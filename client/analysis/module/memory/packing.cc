// Places the results first, then the other arrays in a heap, by decreasing size.
#include "client/analysis/module/memory/packing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace hlod::analysis {
namespace {

// More spans than this are not laid out, because each is compared with all before it. What gaps add is a
// matter of few large arrays.
constexpr size_t kLaidOutMax = 4096;

// A span is tried in no more rooms than these, the smallest that are large enough.
constexpr size_t kTriedMax = 4096;

bool AtOnce(const Ticks& a, const Ticks& b) { return a.first <= b.last && b.first <= a.last; }

void LargestFirst(std::vector<Span>& spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    const auto length = [](const Span& span) { return span.ticks.last - span.ticks.first; };
    return std::pair(a.bytes, length(a)) > std::pair(b.bytes, length(b));
  });
}

// The ticks during which a room is in use; they do not overlap.
class Calendar {
 public:
  bool IsFree(const Ticks& ticks) const {
    auto after = busy_.upper_bound(ticks.last);
    return after == busy_.begin() || std::prev(after)->second < ticks.first;
  }
  void Take(const Ticks& ticks) { busy_.emplace(ticks.first, ticks.last); }
  // Takes ticks some of which may be taken.
  void Join(Ticks ticks) {
    for (auto other = busy_.upper_bound(ticks.last); other != busy_.begin();) {
      other = std::prev(other);
      if (other->second < ticks.first) break;
      ticks = {std::min(ticks.first, other->first), std::max(ticks.last, other->second)};
      other = busy_.erase(other);
    }
    Take(ticks);
  }

 private:
  std::map<int64_t, int64_t> busy_;
};

// Returns where a span of `bytes` lies beside others: the smallest gap, or the top.
int64_t OffsetBeside(std::vector<std::pair<int64_t, int64_t>>& others, int64_t bytes) {
  std::sort(others.begin(), others.end());
  int64_t top = 0, best = -1, best_gap = 0;
  for (const auto& [begin, end] : others) {
    const int64_t gap = begin - top;
    if (gap >= bytes && (best < 0 || gap < best_gap)) {
      best = top;
      best_gap = gap;
    }
    top = std::max(top, end);
  }
  return best < 0 ? top : best;
}

}  // namespace

std::vector<Span> LeftOver(std::vector<Span> spans, std::vector<Room> rooms) {
  std::stable_sort(rooms.begin(), rooms.end(),
                   [](const Room& a, const Room& b) { return a.bytes < b.bytes; });
  std::vector<Calendar> calendars(rooms.size());
  for (size_t room = 0; room < rooms.size(); ++room) {
    for (const Ticks& ticks : rooms[room].busy) calendars[room].Join(ticks);
  }
  LargestFirst(spans);
  std::vector<Span> left;
  for (const Span& span : spans) {
    auto room =
        static_cast<size_t>(std::partition_point(rooms.begin(), rooms.end(),
                                                 [&](const Room& r) { return r.bytes < span.bytes; }) -
                            rooms.begin());
    const size_t end = std::min(rooms.size(), room + kTriedMax);
    while (room < end && !calendars[room].IsFree(span.ticks)) ++room;
    if (room < end) calendars[room].Take(span.ticks);
    else left.push_back(span);
  }
  return left;
}

Alive MostAlive(const std::vector<Span>& spans) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // Ticks, and bytes allocated or freed.
  for (const Span& span : spans) {
    changes.emplace_back(span.ticks.first, span.bytes);
    changes.emplace_back(span.ticks.last + 1, -span.bytes);
  }
  // At one tick what ends goes before what begins.
  std::sort(changes.begin(), changes.end());
  Alive most;
  int64_t alive = 0;
  for (const auto& [tick, bytes] : changes) {
    alive += bytes;
    if (alive > most.bytes) most = {alive, tick};
  }
  return most;
}

int64_t HeapBytes(std::vector<Span> spans) {
  if (spans.size() > kLaidOutMax) return MostAlive(spans).bytes;
  LargestFirst(spans);
  int64_t height = 0;
  std::vector<std::pair<Ticks, std::pair<int64_t, int64_t>>> placed;
  std::vector<std::pair<int64_t, int64_t>> beside;
  for (const Span& span : spans) {
    beside.clear();
    for (const auto& [ticks, bytes] : placed) {
      if (AtOnce(ticks, span.ticks)) beside.push_back(bytes);
    }
    const int64_t offset = OffsetBeside(beside, span.bytes);
    placed.push_back({span.ticks, {offset, offset + span.bytes}});
    height = std::max(height, offset + span.bytes);
  }
  return height;
}

}  // namespace hlod::analysis
