// The uploads of a session: how they are declared, how their bytes come, and how they end. Those under way
// are in a table (Uploads).
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/device/buffers/uploads.h"
#include "server/device/deferring_lock.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"
#include "server/device/violation.h"

namespace hlod::device {

// Thread-safe, as far as it does not say otherwise.
class SessionUploads {
 public:
  explicit SessionUploads(SessionState& state) : state_(state), uploads_(state.limits, state.ledger) {}

  // `done` comes when the last byte is in its place, or never will be.
  Violation Declare(const UploadRequest& request, Done done);

  // The bytes of an upload under way (Uploads has the rules). To be called on the thread that does the copies
  // of transfers: so no earlier transfer can still be writing. NOT_FOUND when there is none under way.
  absl::StatusOr<UploadPart> Claim(uint64_t command);
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Whether the transfer still has the upload: not stale, not failed.
  bool Owns(const UploadPart& part) const;
  // Whether a command's upload waits for its bytes by a transfer.
  bool ExpectsTransfer(uint64_t command) const;
  // Bytes of an upload are in place; the last ones complete it. False: the transfer is stale, and must stop.
  bool AddReceived(uint64_t command, uint64_t generation, int64_t bytes);
  // A transfer ended early: its bytes were in vain. The upload goes on waiting for another one, or fails with
  // `error`.
  void AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error = absl::OkStatus());
  // Fails uploads whose bytes have not come in time.
  void Expire(absl::Time now);

  // For the session device. Nothing when there is none.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Drops them. None is answered.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

 private:
  // Reserves the memory, and makes the handle name a buffer whose bytes are on their way.
  absl::StatusOr<std::shared_ptr<PendingUpload>> DefineBuffer(const UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // An upload is over: its buffer is ready, or failed with `status`.
  void Settle(PendingUpload& upload, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  SessionState& state_;
  Uploads uploads_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device
