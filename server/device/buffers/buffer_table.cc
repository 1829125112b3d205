// Defines, finds and ends handles.
#include "server/device/buffers/buffer_table.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/status.h"

namespace hlod::device {

// Includes a shape of the highest rank, whose dimensions are allocated separately.
static_assert(sizeof(Buffer) + 2 * sizeof(std::pair<Handle, Entry>) + hlo::kMaxRank * (sizeof(int64_t) + 1) <=
              BufferTable::kHandleBytes);
static_assert(2 * sizeof(std::pair<Handle, DeadReason>) + sizeof(Handle) <= BufferTable::kReasonBytes);

BufferTable::~BufferTable() { Charge(-static_cast<int64_t>(reasons_.size()) * kReasonBytes); }

void BufferTable::Charge(int64_t bytes) {
  if (share_ != nullptr && bytes != 0) share_->Charge(bytes);
}

void BufferTable::Put(Handle handle, Entry entry) {
  (entry.buffer != nullptr ? entry.buffer->charge : entry.executable->own_charge) =
      MemoryCharge::Beyond(share_, kHandleBytes);
  live_.insert_or_assign(handle, std::move(entry));
}

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
  Charge(KeepReason(handle, std::move(reason)));
  return entry;
}

int64_t BufferTable::KeepReason(Handle handle, DeadReason reason) {
  oldest_reasons_.push_back(handle);
  absl::Cleanup take_back = [this] { oldest_reasons_.pop_back(); };
  if (!reasons_.try_emplace(handle, std::move(reason)).second) return 0;
  std::move(take_back).Cancel();
  if (static_cast<int64_t>(oldest_reasons_.size()) <= reasons_kept_) return kReasonBytes;
  reasons_.erase(oldest_reasons_.front());
  oldest_reasons_.pop_front();
  return 0;
}

const DeadReason* BufferTable::Reason(Handle handle) const {
  const auto found = reasons_.find(handle);
  return found == reasons_.end() ? nullptr : &found->second;
}

absl::flat_hash_map<Handle, Entry> BufferTable::Clear() { return std::exchange(live_, {}); }

}  // namespace hlod::device
