// Defining, finding and ending handles.
#include "server/device/buffer_table.h"

#include <utility>

#include "common/base/status.h"

namespace hlod::device {

Violation BufferTable::Claim(Handle handle) {
  if (handle == 0) return Violation("Handle 0 cannot be defined.");
  if (handle <= last_) {
    return Violation(
        absl::StrFormat("Handle (%d) is not larger than the last one defined (%d).", handle, last_));
  }
  last_ = handle;
  return Violation();
}

Entry* BufferTable::Find(Handle handle) {
  const auto found = live_.find(handle);
  return found == live_.end() ? nullptr : &found->second;
}

Entry BufferTable::Erase(Handle handle, DeadReason reason) {
  const auto found = live_.find(handle);
  if (found == live_.end()) return {};
  Entry entry = std::move(found->second);
  live_.erase(found);
  RecordDeath(handle, std::move(reason));
  return entry;
}

void BufferTable::RecordDeath(Handle handle, DeadReason reason) {
  if (!reasons_.try_emplace(handle, std::move(reason)).second) return;
  oldest_reasons_.push_back(handle);
  if (static_cast<int64_t>(oldest_reasons_.size()) > reasons_kept_) {
    reasons_.erase(oldest_reasons_.front());
    oldest_reasons_.pop_front();
  }
}

const DeadReason* BufferTable::Reason(Handle handle) const {
  const auto found = reasons_.find(handle);
  return found == reasons_.end() ? nullptr : &found->second;
}

absl::flat_hash_map<Handle, Entry> BufferTable::Clear() { return std::exchange(live_, {}); }

}  // namespace hlod::device
