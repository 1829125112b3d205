// The handles of one session, which the client defines and the table checks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/buffers/buffer.h"
#include "server/device/memory/side_memory.h"
#include "server/device/violation.h"

namespace hlod::device {

// The reason why a handle is dead.
struct DeadReason {
  ErrorKind kind = ErrorKind::kDeleted;  // kDeleted, kDonated, or the kind of `error`.
  CommandRef by;
  // Set when the handle's definition was refused for a limit: its root cause.
  std::shared_ptr<const ErrorDetails> error;
};

// Not thread-safe: SessionDevice locks.
class BufferTable {
 public:
  // The bytes charged for a handle with its object, which a waiting command may keep when the handle is
  // freed, and for the reason of a dead handle: at least what they occupy.
  static constexpr int64_t kHandleBytes = 1280, kReasonBytes = 128;

  // Keeps the reasons of the last `reasons_kept` dead handles. Its memory is charged to `share`, even beyond
  // the limit; null: it is not charged.
  explicit BufferTable(int64_t reasons_kept, std::shared_ptr<MemoryShare> share = nullptr)
      : reasons_kept_(reasons_kept), share_(std::move(share)) {}
  BufferTable(const BufferTable&) = delete;
  BufferTable& operator=(const BufferTable&) = delete;
  ~BufferTable();

  // Records that the client uses `handle` for a new object. A violation if the handle is 0 or not larger than
  // all before.
  Violation Claim(Handle handle);
  // Makes a claimed handle live.
  void Put(Handle handle, Entry entry);
  // Returns the object that a live handle names, or null.
  Entry* Find(Handle handle);
  // Removes a live handle. The caller destroys the returned entry outside of the session's lock.
  Entry Erase(Handle handle, DeadReason reason);
  // Records why a claimed handle never became live.
  void RecordDeath(Handle handle, DeadReason reason) { Charge(KeepReason(handle, std::move(reason))); }
  // Returns the reason why a handle is dead; null if it was never defined, or its reason was dropped.
  const DeadReason* Reason(Handle handle) const;

  Handle last() const { return last_; }
  int64_t size() const { return static_cast<int64_t>(live_.size()); }
  const absl::flat_hash_map<Handle, Entry>& live() const { return live_; }
  // Removes and returns all entries.
  absl::flat_hash_map<Handle, Entry> Clear();

 private:
  void Charge(int64_t bytes);
  // Keeps the reason, and drops the oldest one if there are too many. Returns the bytes to charge for that,
  // usually 0.
  int64_t KeepReason(Handle handle, DeadReason reason);

  const int64_t reasons_kept_;
  const std::shared_ptr<MemoryShare> share_;
  Handle last_ = 0;
  absl::flat_hash_map<Handle, Entry> live_;
  absl::flat_hash_map<Handle, DeadReason> reasons_;
  std::deque<Handle> oldest_reasons_;
};

}  // namespace hlod::device
