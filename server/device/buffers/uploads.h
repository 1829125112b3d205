// Uploads under way in one session: whose bytes come how, how many are here, how long they are waited for.
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

// An upload whose bytes are on their way. A thread that copies into `target` holds the upload: a failed one
// keeps the memory until then.
struct PendingUpload {
  CommandRef command;
  std::shared_ptr<Buffer> buffer;
  Cause cause = Cause::kUpload;
  bool pieces = false;  // They come in pieces (NextPiece), else by one transfer (Claim).
  absl::Span<std::byte> target;
  Block discarded;             // The memory of a failed upload.
  int64_t staged = 0;          // Bytes that count against staging_bytes_max.
  int64_t scheduled = 0;       // Pieces were named up to here.
  int64_t received = 0;        // Bytes that are in place.
  uint64_t generation = 0;     // Of the transfer that feeds it: a new one makes the old one stale.
  std::shared_ptr<Task> task;  // Finished when all bytes are in, or it has failed.
  Done done;
};

// Where a transfer, or one piece, puts its bytes.
struct UploadPart {
  std::shared_ptr<PendingUpload> upload;
  uint64_t generation = 0;
  absl::Span<std::byte> target;
};

// By command. What becomes of the buffer and of the answer is the business of SessionUploads. Not
// thread-safe.
class Uploads {
 public:
  Uploads(const Limits& limits, SessionLedger& ledger);

  // Takes the bytes of an upload that is about to be declared. RESOURCE_EXHAUSTED naming the limit.
  absl::Status Reserve(int64_t bytes) { return staging_.Reserve(bytes, "An upload"); }
  void Release(int64_t bytes) { staging_.Release(bytes); }
  // From here on its bytes are waited for.
  void Add(std::shared_ptr<PendingUpload> upload, absl::Time now);
  // Takes an upload out, which is over: complete, failed or cancelled. Its transfers are stale.
  std::shared_ptr<PendingUpload> Remove(uint64_t command);
  // Takes all of them out.
  std::vector<std::shared_ptr<PendingUpload>> Clear();

  // Whether a command's upload waits for its bytes by a transfer.
  bool ExpectsTransfer(uint64_t command) const;
  // Hands an upload to a transfer that brings all of its bytes; what an earlier one brought counts as
  // aborted.
  absl::StatusOr<UploadPart> Claim(uint64_t command);
  // The next range of an upload that comes in pieces, in order and without gaps: INVALID_ARGUMENT otherwise.
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Bytes are in place; the last ones complete it.
  enum class Progress { kStale, kIncomplete, kComplete };
  Progress AddReceived(uint64_t command, uint64_t generation, int64_t bytes, absl::Time now);
  // Whether the transfer still has the upload.
  bool Owns(uint64_t command, uint64_t generation) const;
  // The transfer brought its bytes in vain: another one may come.
  void Restart(uint64_t command);
  // Those whose bytes have not come in time, in the order of their commands; and what is said of one.
  std::vector<uint64_t> Late(absl::Time now) const { return deadlines_.Late(now); }
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
