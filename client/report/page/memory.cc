// A buffer is counted from the event that made it to the death of the last value that holds it.
#include "client/report/page/memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "client/report/page/log.h"
#include "common/base/kinds.h"

namespace hlod::report {
namespace {

class MemoryReplay {
 public:
  explicit MemoryReplay(const Profile& run) {
    for (const ProfileAccount& account : run.accounts) {
      for (const CompileRow& row : account.account.compiles) {
        int64_t& bytes = temporaries_[row.digest];
        bytes = std::max(bytes, row.temporary_bytes);
      }
    }
    for (const Event& event : run.events) {
      at_us_ = event.at_us;
      if (const auto* const transfer = std::get_if<TransferEvent>(&event.what)) OnTransfer(*transfer);
      if (const auto* const close = std::get_if<CloseEvent>(&event.what)) OnClose(*close);
      if (const auto* const death = std::get_if<ValueFreedEvent>(&event.what)) OnDeath(*death);
    }
  }
  Memory Take() && { return std::move(memory_); }

 private:
  // (session, handle): handles are unique in a session. The event of a death does not name the session.
  using Key = std::pair<uint64_t, uint64_t>;
  struct Held {
    LiveBuffer buffer;
    std::set<uint64_t> values;
  };

  void OnTransfer(const TransferEvent& event) {
    if (DirectionOf(event.cause) != Direction::kHostToDevice || event.value.buffer == 0) return;
    Hold(event.session, event.value, event.name, MemoryKind::kUploads);
    Note(0, "");
  }
  void OnClose(const CloseEvent& event) {
    if (!event.status.ok()) return;
    for (const CloseEvent::Output& output : event.outputs) {
      Hold(event.session, output, "result of " + event.name,
           output.alive == LiveReason::kTensor ? MemoryKind::kResults : MemoryKind::kBackward);
    }
    for (const CloseEvent::Input& input : event.inputs) {
      if (input.donated) Drop({event.session, input.buffer});
    }
    const auto temporary = temporaries_.find(event.program);
    const int64_t bytes = temporary == temporaries_.end() ? 0 : temporary->second;
    Note(bytes, event.name);
    if (bytes > 0) Note(0, "");
  }
  void OnDeath(const ValueFreedEvent& event) {
    const EventValue& value = event.value;
    if (value.buffer == 0) return;
    const auto known = sessions_.find(value.value);
    uint64_t session = 0;
    if (value.value != 0 && known != sessions_.end()) {
      session = known->second;
      // A buffer without a tensor: take the session that has one with the handle and the size.
    } else {
      for (const auto& [key, held] : held_) {
        if (key.second == value.buffer && held.buffer.bytes == value.bytes) session = key.first;
      }
    }
    const auto found = held_.find({session, value.buffer});
    if (found == held_.end()) return;
    found->second.values.erase(value.value);
    if (!found->second.values.empty() && event.how == "released") return;
    Drop(found->first);
    Note(0, "");
  }

  void Hold(uint64_t session, const EventValue& value, const std::string& name, MemoryKind kind) {
    if (value.buffer == 0) return;
    if (value.value != 0) sessions_[value.value] = session;
    const auto [held, is_new] = held_.try_emplace({session, value.buffer});
    held->second.values.insert(value.value);
    if (!is_new) return;
    held->second.buffer = {name,  kind, hlo::ToStringNoLayout(value.shape), value.bytes, LineOf(value.origin),
                           at_us_};
    AddSaturated(live_[static_cast<size_t>(kind)], value.bytes);
  }
  void Drop(Key key) {
    const auto found = held_.find(key);
    if (found == held_.end()) return;
    SubtractSaturated(live_[static_cast<size_t>(found->second.buffer.kind)], found->second.buffer.bytes);
    held_.erase(found);
  }

  void Note(int64_t temporary, const std::string& program) {
    MemoryPoint& point = memory_.points.emplace_back(MemoryPoint{at_us_, live_});
    AddSaturated(point.by_kind[static_cast<size_t>(MemoryKind::kTemporaries)], temporary);
    const int64_t bytes = point.bytes();
    if (bytes <= memory_.peak_bytes) return;
    memory_.peak_bytes = bytes;
    memory_.peak_us = at_us_;
    std::vector<LiveBuffer> all;
    if (temporary > 0)
      all.push_back({"temporaries of " + program, MemoryKind::kTemporaries, "", temporary, "", at_us_});
    for (const auto& [key, held] : held_) all.push_back(held.buffer);
    const size_t listed = std::min(all.size(), kLargest);
    std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(listed), all.end(),
                      [](const LiveBuffer& a, const LiveBuffer& b) { return a.bytes > b.bytes; });
    memory_.others = static_cast<int64_t>(all.size() - listed);
    memory_.others_bytes = bytes;
    all.resize(listed);
    for (const LiveBuffer& buffer : all) SubtractSaturated(memory_.others_bytes, buffer.bytes);
    memory_.at_peak = std::move(all);
  }

  std::map<std::string, int64_t> temporaries_;  // The temporaries by the program's digest.
  std::map<Key, Held> held_;
  std::map<uint64_t, uint64_t> sessions_;  // The sessions by a value's id.
  double at_us_ = 0;                       // The time of the current event.
  std::array<int64_t, kMemoryKinds> live_{};
  Memory memory_;
};

}  // namespace

std::string_view Name(MemoryKind kind) {
  static constexpr std::string_view kNames[] = {"uploads", "results", "kept for Backward()", "temporaries"};
  return kNames[static_cast<size_t>(kind)];
}

Memory MemoryOf(const Profile& run) { return MemoryReplay(run).Take(); }

}  // namespace hlod::report
