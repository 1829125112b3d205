// Buffers are counted from the event that made them to the death of the last value that holds them.
#include "client/report/memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/base/kinds.h"

namespace hlod::report {
namespace {

bool IsUpload(std::string_view cause) {
#define HLOD_CAUSE(id, number, text, direction, meaning) \
  if (cause == text) return Direction::direction == Direction::kHostToDevice;
#include "common/base/causes.inc"
#undef HLOD_CAUSE
  return false;
}

class Account {
 public:
  explicit Account(const RunJson& run) {
    for (const Json& account : run.accounts) {
      for (const Json& row : Part(account, "compiles")) {
        int64_t& bytes = temporaries_[Text(row, "digest")];
        bytes = std::max(bytes, Integer(row, "temporary_bytes"));
      }
    }
    for (const Json& event : run.events) {
      const std::string kind = Text(event, "event");
      if (kind == "transfer") OnTransfer(event);
      if (kind == "close") OnClose(event);
      if (kind == "death") OnDeath(event);
    }
  }
  Memory Take() && { return std::move(memory_); }

 private:
  // A handle is of its session; an event of a death does not say which.
  using Key = std::pair<int64_t, int64_t>;
  struct Held {
    LiveBuffer buffer;
    std::set<int64_t> values;
  };

  void OnTransfer(const Json& event) {
    const Json& value = Part(event, "value");
    if (!IsUpload(Text(event, "cause")) || Integer(value, "buffer") == 0) return;
    Hold(Number(event, "at_us"), Integer(event, "session"), value, Text(event, "name"), MemoryKind::kUploads);
    Note(Number(event, "at_us"), 0, "");
  }
  void OnClose(const Json& event) {
    if (event.contains("status")) return;  // It failed.
    const int64_t session = Integer(event, "session");
    const double at_us = Number(event, "at_us");
    const std::string name = Text(event, "name");
    for (const Json& output : Part(event, "outputs")) {
      const bool tensor = Text(output, "alive") == "tensor";
      Hold(at_us, session, output, "result of " + name,
           tensor ? MemoryKind::kResults : MemoryKind::kBackward);
    }
    for (const Json& input : Part(event, "inputs")) {
      if (Flag(input, "donated")) Drop({session, Integer(input, "buffer")});
    }
    const auto temporary = temporaries_.find(Text(event, "program"));
    const int64_t bytes = temporary == temporaries_.end() ? 0 : temporary->second;
    Note(at_us, bytes, name);
    if (bytes > 0) Note(at_us, 0, "");
  }
  void OnDeath(const Json& event) {
    const Json& value = Part(event, "value");
    const int64_t number = Integer(value, "value"), buffer = Integer(value, "buffer");
    if (buffer == 0) return;
    const auto known = sessions_.find(number);
    int64_t session = 0;
    if (number != 0 && known != sessions_.end()) {
      session = known->second;
    } else {  // A buffer without a tensor: of the session that has one with the handle and the size.
      for (const auto& [key, held] : held_) {
        if (key.second == buffer && held.buffer.bytes == Integer(value, "bytes")) session = key.first;
      }
    }
    const auto found = held_.find({session, buffer});
    if (found == held_.end()) return;
    found->second.values.erase(number);
    if (!found->second.values.empty() && Text(event, "how") == "released") return;
    Drop(found->first);
    Note(Number(event, "at_us"), 0, "");
  }

  void Hold(double at_us, int64_t session, const Json& value, const std::string& name, MemoryKind kind) {
    const int64_t buffer = Integer(value, "buffer"), number = Integer(value, "value");
    if (buffer == 0) return;
    if (number != 0) sessions_[number] = session;
    const auto [held, is_new] = held_.try_emplace({session, buffer});
    held->second.values.insert(number);
    if (!is_new) return;
    const int64_t bytes = Integer(value, "bytes");
    held->second.buffer = {name, kind, Text(value, "shape"), bytes, LineOf(value), at_us};
    live_[static_cast<size_t>(kind)] += bytes;
  }
  void Drop(Key key) {
    const auto found = held_.find(key);
    if (found == held_.end()) return;
    live_[static_cast<size_t>(found->second.buffer.kind)] -= found->second.buffer.bytes;
    held_.erase(found);
  }

  void Note(double at_us, int64_t temporary, const std::string& program) {
    MemoryPoint& point = memory_.points.emplace_back(MemoryPoint{at_us, live_});
    point.by_kind[static_cast<size_t>(MemoryKind::kTemporaries)] += temporary;
    const int64_t bytes = point.bytes();
    if (bytes <= memory_.peak_bytes) return;
    memory_.peak_bytes = bytes;
    memory_.peak_us = at_us;
    std::vector<LiveBuffer> all;
    if (temporary > 0)
      all.push_back({"temporaries of " + program, MemoryKind::kTemporaries, "", temporary, "", at_us});
    for (const auto& [key, held] : held_) all.push_back(held.buffer);
    const size_t listed = std::min(all.size(), kLargest);
    std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(listed), all.end(),
                      [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
    memory_.others = static_cast<int64_t>(all.size() - listed);
    memory_.others_bytes = bytes;
    all.resize(listed);
    for (const LiveBuffer& buffer : all) memory_.others_bytes -= buffer.bytes;
    memory_.at_peak = std::move(all);
  }

  std::map<std::string, int64_t> temporaries_;  // By the program's digest.
  std::map<Key, Held> held_;
  std::map<int64_t, int64_t> sessions_;  // Of values.
  std::array<int64_t, kMemoryKinds> live_{};
  Memory memory_;
};

}  // namespace

std::string_view Name(MemoryKind kind) {
  static constexpr std::string_view kNames[] = {"uploads", "results", "kept for Backward()", "temporaries"};
  return kNames[static_cast<size_t>(kind)];
}

Memory MemoryOf(const RunJson& run) { return Account(run).Take(); }

}  // namespace hlod::report
