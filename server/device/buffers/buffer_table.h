// The handles of one session: defined by the client, and checked.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/device/buffers/buffer.h"
#include "server/device/memory/side_memory.h"
#include "server/device/violation.h"

namespace hlod::device {

// Why a handle is dead.
struct DeadReason {
  ErrorKind kind = ErrorKind::kDeleted;  // kDeleted, kDonated, or the kind of `error`.
  CommandRef by;
  std::shared_ptr<const ErrorDetails>
      error;  // Of a handle whose definition was refused for a limit: its root cause.
};

// Not thread-safe: the session device locks.
class BufferTable {
 public:
  // What a live handle, and the reason of a dead one, are charged with: at least what they take.
  static constexpr int64_t kHandleBytes = 1280, kReasonBytes = 128;

  // Keeps the reasons of the last `reasons_kept` dead handles. What it holds is charged to `share`, also
  // beyond the limit; null: to nobody.
  explicit BufferTable(int64_t reasons_kept, std::shared_ptr<MemoryShare> share = nullptr)
      : reasons_kept_(reasons_kept), share_(std::move(share)) {}
  BufferTable(const BufferTable&) = delete;
  BufferTable& operator=(const BufferTable&) = delete;
  ~BufferTable();

  // Takes note that the client named `handle`, which is a violation when it is 0 or not larger than all
  // before.
  Violation Claim(Handle handle);
  // Gives a claimed handle its meaning.
  void Put(Handle handle, Entry entry);
  // What a live handle names, or null.
  Entry* Find(Handle handle);
  // Takes a live handle out; the entry is the caller's to destroy, outside of the session's lock.
  Entry Erase(Handle handle, DeadReason reason);
  // Remembers why a claimed handle never came to life.
  void RecordDeath(Handle handle, DeadReason reason);
  // Why a handle is dead, or null: never defined, or forgotten.
  const DeadReason* Reason(Handle handle) const;

  Handle last() const { return last_; }
  int64_t size() const { return static_cast<int64_t>(live_.size()); }
  const absl::flat_hash_map<Handle, Entry>& live() const { return live_; }
  // Takes everything out.
  absl::flat_hash_map<Handle, Entry> Clear();

 private:
  void Charge(int64_t bytes);

  const int64_t reasons_kept_;
  const std::shared_ptr<MemoryShare> share_;
  Handle last_ = 0;
  absl::flat_hash_map<Handle, Entry> live_;
  absl::flat_hash_map<Handle, DeadReason> reasons_;
  std::deque<Handle> oldest_reasons_;
};

}  // namespace hlod::device
