// The uploads of a session: how they are declared, how their bytes arrive, and how they end. Uploads
// (uploads.h) is the table of the pending ones.
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

// Thread-safe, except where noted.
class SessionUploads {
 public:
  explicit SessionUploads(SessionState& state) : state_(state), uploads_(state.limits, state.ledger) {}

  // `done` is called when the last byte is in place or the upload has failed.
  Violation Declare(const UploadRequest& request, Done done);

  // Return the memory for the bytes of a pending upload (by the rules of Uploads). Must be called on the
  // thread that copies transfers, so that no earlier transfer can still be writing. NOT_FOUND when no such
  // upload is pending.
  absl::StatusOr<UploadPart> Claim(uint64_t command);
  absl::StatusOr<UploadPart> NextPiece(uint64_t command, uint64_t offset, uint64_t length);
  // Returns false when the transfer is stale or its upload has ended.
  bool Owns(const UploadPart& part) const;
  // Returns true when the command's upload waits for a transfer.
  bool ExpectsTransfer(uint64_t command) const;
  // Records that bytes of an upload have arrived; the last ones complete it. Returns false when the transfer
  // is stale and must stop.
  bool AddReceived(uint64_t command, uint64_t generation, int64_t bytes);
  // Ends a transfer early and discards its bytes. The upload waits for another transfer, or fails with
  // `error`.
  void AbortTransfer(uint64_t command, uint64_t generation, const absl::Status& error = absl::OkStatus());
  // Fails the uploads whose bytes have not arrived in time; `heard` is the time of the client's last message.
  void Expire(absl::Time now, absl::Time heard);
  // Called when the client is about to resume its session: all uploads are waited for anew.
  void OnResume(absl::Time now);

  // For SessionDevice. Has no effect if the command has no pending upload.
  void Cancel(uint64_t command, const absl::Status& cancelled, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Drops all uploads without answering them.
  void Close(DeferringLock& lock) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  // Tells clang, which knows the state's mutex by another name where this is called, that it is held.
  void AssertHeld() const HLOD_ASSERTS_HELD(state_.mu) {}

 private:
  // Reserves the memory, and makes the handle name a buffer whose bytes have not arrived yet.
  absl::StatusOr<std::shared_ptr<PendingUpload>> DefineBuffer(const UploadRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);
  // Ends an upload: its buffer becomes ready, or failed with `status`.
  void Settle(PendingUpload& upload, const absl::Status& status, DeferringLock& lock)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state_.mu);

  SessionState& state_;
  Uploads uploads_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hlod::device
