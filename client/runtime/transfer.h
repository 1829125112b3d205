// Bulk bytes, behind one interface, in three ways: inside the command (transfer_inline.cc), through the
// shared arena (transfer_arena.cc), on a bulk stream (transfer_stream.cc). What they have in common is in
// transfer.cc.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
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
  // Whether Await would not wait. Makes progress, without waiting.
  virtual bool Ready() = 0;
  // Waits; the span is full when it returns OK. May be called again after DEADLINE_EXCEEDED; what it returned
  // otherwise it returns again.
  virtual absl::Status Await(absl::Time deadline) = 0;
};

// A download that is one command.
class CommandDownload : public PendingDownload {
 public:
  CommandDownload(std::shared_ptr<Session> session, Command command, absl::Span<std::byte> out)
      : session_(std::move(session)), command_(std::move(command)), out_(out) {}
  // When the command is done: fetching what it made available is up to Await.
  bool Ready() override;

 protected:
  const std::shared_ptr<Session> session_;
  const Command command_;
  const absl::Span<std::byte> out_;
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

Transfer& InlineTransfer();
Transfer& StreamTransfer();
Transfer& ArenaTransfer();
// The one for so many bytes in this session.
Transfer& ChooseTransfer(Session& session, int64_t bytes);

// Declares an upload whose bytes lie in the arena already, and gives the range to the daemon.
absl::StatusOr<Command> SendStaged(Session& session, UploadRequest& request, ArenaRange range,
                                   const Caller& caller);

// ------------------------------------------------------------------------------- for the three of them

// Adds the declaration of an upload to the transaction, under a new handle unless the request names one;
// `payload` says in it how the bytes come.
Command AddUpload(Session::Sender& sender, UploadRequest& request,
                  absl::FunctionRef<void(v1::Upload&)> payload);
// The command that asks for a buffer's bytes, but for the way they go.
v1::Command MakeDownload(uint64_t handle, Cause cause);
// A download that failed before anything was sent.
std::unique_ptr<PendingDownload> FailedDownload(absl::Status status);
// The rest of a read on a bulk stream, from byte `offset` of the buffer on; `out` is the whole buffer's.
// Where an earlier Download began the read, it is the same call in the ledger.
std::unique_ptr<PendingDownload> DownloadOnStream(std::shared_ptr<Session> session, uint64_t handle,
                                                  Cause cause, absl::Span<std::byte> out, int64_t offset,
                                                  const Caller& caller);

}  // namespace hlod::internal
