// The pending uploads of one session: how their bytes arrive, how many have arrived, and how long they are
// waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/base/kinds.h"
#include "common/base/limits.h"
#include "server/device/buffers/buffer.h"
#include "server/device/buffers/upload_deadlines.h"
#include "server/device/deferring_lock.h"
#include "server/device/ledger/ledger.h"
#include "server/device/memory/byte_budget.h"

namespace hlod::device {

// An upload whose bytes have not all arrived. A thread that copies into `target` refers to the upload, so the
// memory of a failed upload lives until the copy ends.
struct PendingUpload {
  CommandRef command;
  std::shared_ptr<Buffer> buffer;
  Cause cause = Cause::kUpload;
  bool pieces = false;  // True: its bytes come in pieces (NextPiece); false: by one transfer (Claim).
  absl::Span<std::byte> target;
  Block discarded;             // The memory of a failed upload.
  int64_t staged = 0;          // The bytes that count against staging_bytes_max.
  int64_t scheduled = 0;       // The end of the last piece that was scheduled.
  int64_t received = 0;        // The number of bytes that have arrived.
  uint64_t generation = 0;     // The number of the current transfer; a new one makes the old one stale.
  std::shared_ptr<Task> task;  // Finished when all bytes have arrived, or the upload has failed.
  Done done;
};

// The memory that a transfer, or one piece, writes to.
struct UploadPart {
  std::shared_ptr<PendingUpload> upload;
  uint64_t generation = 0;
  absl::Span<std::byte> target;
};

// A table of uploads by command. SessionUploads handles the buffer and the answer. Not thread-safe.
class Uploads {
 public:
  Uploads(const Limits& limits, SessionLedger& ledger);

  // Reserves the bytes of an upload that is about to be declared. RESOURCE_EXHAUSTED names the limit.
  absl::Status Reserve(int64_t bytes) { return staging_.Reserve(bytes, "An upload"); }
  void Release(int64_t bytes) { staging_.Release(bytes); }
  // Adds an upload and starts its deadline.
  void Add(std::shared_ptr<PendingUpload> upload, absl::Time now);
  // Removes an upload that is complete, failed or cancelled. Its transfers become stale.
  std::shared_ptr<PendingUpload> Remove(uint64_t command);
  // Removes and returns one of the uploads; null when there is none.
  std::shared_ptr<PendingUpload> RemoveAny();

  // Returns true when the command's upload waits for a transfer.
  bool ExpectsTransfer(uint64_t command) const;
  // Assigns an upload to a transfer of all of its bytes. Bytes of an earlier transfer are counted as aborted.
  absl::StatusOr<UploadPart> Claim(uint64_t command);
  // Returns the memory for the next range of an upload that comes in pieces. INVALID_ARGUMENT unless ranges
  // are in order and without gaps.
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Records that bytes are in place; the last ones complete the upload.
  enum class Progress { kStale, kIncomplete, kComplete };
  Progress AddReceived(uint64_t command, uint64_t generation, int64_t bytes, absl::Time now);
  // Returns false when the transfer is stale or its upload has ended.
  bool Owns(uint64_t command, uint64_t generation) const;
  // Discards the bytes of the current transfer, so that another one may begin.
  void Restart(uint64_t command);
  // Called when the client has resumed its session: all uploads are waited for anew.
  void RestartDeadlines(absl::Time now) { deadlines_.Restart(now); }
  // Return the uploads whose bytes have not arrived in time, in the order of their commands, and the error
  // for one of them.
  std::vector<uint64_t> Late(absl::Time now, absl::Time heard) const { return deadlines_.Late(now, heard); }
  absl::Status LateError(uint64_t command) const;

 private:
  PendingUpload* Find(uint64_t command) const;

  const Limits& limits_;
  SessionLedger& ledger_;
  absl::flat_hash_map<uint64_t, std::shared_ptr<PendingUpload>> uploads_;
  ByteBudget staging_;
  UploadDeadlines deadlines_;
};

}  // namespace hlod::device
