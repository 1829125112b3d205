// The transfers of a session's bytes outside of its message stream: bulk streams, the downloads that they
// read, the uploads that they wait for, and the shared arena.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/limits.h"
#include "common/rpc/shared_memory.h"
#include "server/device/session_device.h"
#include "server/session/budgets.h"
#include "server/session/session_stream.h"

namespace hlod::session {

// The bytes of a download for Bulk.Download, which its reply announced.
struct KeptDownload {
  KeptDownload(device::ReadyBytes bytes, const device::RowKey& row, int64_t calls)
      : bytes(std::move(bytes)), row(row), calls(calls) {}
  const device::ReadyBytes bytes;
  const device::RowKey row;
  const int64_t calls;  // 0 for a further piece of a read that was counted before.
  std::atomic<bool> counted{false};
};

// The memory of a ring, charged to the session's user until it is released.
struct RingMemory {
  device::MemoryCharge charge;
  rpc::SharedMemory memory;
};

// Thread-safe.
class SessionTransfers {
 public:
  // The arguments must outlive this object.
  SessionTransfers(device::SessionDevice& session_device, const Limits& limits, SessionBudgets& budgets)
      : session_device_(session_device), limits_(limits), budgets_(budgets) {}

  // Keeps a download's bytes for Bulk.Download until it is acknowledged.
  absl::Status KeepDownload(uint64_t command, device::ReadyBytes bytes, const device::RowKey& row,
                            int64_t calls);
  absl::StatusOr<std::shared_ptr<KeptDownload>> FindDownload(uint64_t command) const;
  // Records a download in the ledger once: when its last byte was sent, even if the client has acknowledged
  // it before.
  void CountDownload(KeptDownload& download);
  // Drops the downloads that the client has acknowledged: all up to command `through`, or that of `command`.
  void AcknowledgeThrough(uint64_t through);
  void Acknowledge(uint64_t command);

  // Registers a bulk stream, which the session's end stops. CANCELLED when the session has ended already,
  // RESOURCE_EXHAUSTED when there are too many.
  absl::Status AddBulkStream(const std::shared_ptr<BulkStream>& stream);
  // Calls `declared` when the command's upload is declared and waits for a transfer, perhaps at once; with an
  // error when this will not happen, or when a later stream waits for the same command: then the client has
  // given this one up.
  void AwaitUpload(uint64_t command, std::function<void(const absl::Status&)> declared);
  // Called when a command was handled; if it is an upload, it is declared now.
  void OnHandled(uint64_t command);
  // Called when the client is about to resume its session, and to declare again what the daemon has not
  // received: waiting transfers wait anew.
  void OnResume();
  // Fails transfers whose declaration is late.
  void Tick(absl::Time now);

  // Returns the shared arena, made on first use and charged to the session's user. RESOURCE_EXHAUSTED when
  // the kernel, or the user's share of memory, has no room for it.
  absl::StatusOr<absl::Span<std::byte>> MapArena(int* fd);
  absl::StatusOr<absl::Span<std::byte>> arena() const;

  // Makes new memory for a ring, in place of one that was not taken, and returns its descriptor, of which it
  // keeps no other. Errors as for the arena.
  absl::StatusOr<rpc::Descriptor> MapRing();
  // Returns the memory of the latest MapRing, once; null when there is none.
  std::unique_ptr<RingMemory> TakeRing();

  // Returns true while bytes are being transferred.
  bool busy() const;
  // Drops the kept downloads, stops the streams, and refuses waiting and later transfers.
  void End();

 private:
  struct Waiter {
    std::function<void(const absl::Status&)> declared;
    absl::Time deadline;
  };
  using Downloads = std::map<uint64_t, std::shared_ptr<KeptDownload>>;
  absl::Time Deadline() const;
  // Removes a download and releases its budget. The caller destroys it after releasing the lock.
  std::shared_ptr<KeptDownload> Take(Downloads::iterator download) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  device::SessionDevice& session_device_;
  const Limits& limits_;
  SessionBudgets& budgets_;
  // The members below are guarded by mu_, which is never held while a stream or a session device is called.
  mutable Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  Downloads downloads_ ABSL_GUARDED_BY(mu_);
  // The waiting streams by the id of the Upload command that they wait for.
  std::map<uint64_t, Waiter> waiting_ ABSL_GUARDED_BY(mu_);
  uint64_t handled_through_ ABSL_GUARDED_BY(mu_) = 0;  // Commands up to this one have been handled.
  std::vector<std::weak_ptr<BulkStream>> streams_ ABSL_GUARDED_BY(mu_);
  device::MemoryCharge arena_charge_ ABSL_GUARDED_BY(mu_);
  rpc::SharedMemory arena_ ABSL_GUARDED_BY(mu_);
  std::unique_ptr<RingMemory> ring_ ABSL_GUARDED_BY(mu_);  // Fetched, and not taken yet.
};

}  // namespace hlod::session
