// Counts what the log holds, so that a session knows whether there is room.
#include "client/runtime/session/replay_log.h"

#include <utility>

namespace hlod::runtime {
namespace {

constexpr int64_t kBytesMax = 64 << 20;  // The maximum size of commands kept for a replay.
// The maximum length of the log, in units of limit commands_in_flight_max; the daemon accepts twice that.
constexpr int64_t kWindow = 8;

}  // namespace

void ReplayLog::Append(Entry entry) {
  bytes_ += static_cast<int64_t>(entry.bytes->size());
  ++unsettled_;
  pieces_ += entry.piece;
  entries_.push_back(std::move(entry));
}

ReplayLog::Entry* ReplayLog::Find(uint64_t command) {
  const uint64_t first = next_ - entries_.size();  // The id of the oldest unsettled command.
  return command < first || command >= next_ ? nullptr : &entries_[command - first];
}

void ReplayLog::Release(Entry& entry) {
  bytes_ -= static_cast<int64_t>(entry.bytes->size());
  entry.bytes.reset();
  --unsettled_;
}

void ReplayLog::PopFront() {
  pieces_ -= entries_.front().piece;
  entries_.pop_front();
}

void ReplayLog::Clear() {
  entries_.clear();
  unsettled_ = pieces_ = bytes_ = 0;
}

bool ReplayLog::HasRoom(const Limits& limits) const {
  return unsettled_ * 2 < limits.commands_in_flight_max && bytes_ < kBytesMax &&
         static_cast<int64_t>(entries_.size()) - pieces_ < kWindow * limits.commands_in_flight_max;
}

}  // namespace hlod::runtime
