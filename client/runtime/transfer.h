// Bulk bytes, behind one interface, three ways: inside the command, through the shared arena, on a bulk
// stream.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/runtime/arena.h"
#include "client/runtime/session.h"
#include "hlod/caller.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::internal {

// A download under way: it fills the span it was given.
class PendingDownload {
 public:
  virtual ~PendingDownload() = default;
  // Whether Await would not wait.
  virtual bool Ready() = 0;
  // Waits; the span is full when it returns OK. May be called again after DEADLINE_EXCEEDED, and gives the
  // same result ever after.
  virtual absl::Status Await(absl::Time deadline) = 0;
};

// What an upload is about; `handle` is 0 for a new buffer (the transport lets the session choose it and
// writes it back).
struct UploadRequest {
  uint64_t handle = 0;
  v1::Upload declaration;  // All but handle and payload.
};

class Transfer {
 public:
  virtual ~Transfer() = default;
  // Declares the buffer and sends its bytes, which may be touched again on return. The command is the
  // Upload's.
  virtual absl::StatusOr<Command> Upload(Session& session, UploadRequest& request,
                                         absl::Span<const std::byte> bytes, const Caller& caller) = 0;
  // Asks for a buffer's bytes; `out` is its byte size and stays until the download is done or gone.
  virtual std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle,
                                                    Cause cause, absl::Span<std::byte> out,
                                                    const Caller& caller) = 0;
};

// The three.
Transfer& InlineTransfer();
Transfer& StreamTransfer();
Transfer& ArenaTransfer();
// The one for so many bytes in this session.
Transfer& ChooseTransfer(Session& session, int64_t bytes);

// Declares an upload whose bytes lie in the arena already, and hands the range to the daemon.
absl::StatusOr<Command> SendStaged(Session& session, UploadRequest& request, ArenaRange range,
                                   const Caller& caller);

// A download that failed before anything was sent.
std::unique_ptr<PendingDownload> FailedDownload(absl::Status status);

// Copies without filling the caches with the destination, when that is large enough to pay.
void CopyBulk(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace hlod::internal
