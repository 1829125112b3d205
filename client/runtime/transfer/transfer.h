// Transfers of bulk bytes behind one interface, of three kinds: inside the command (transfer_inline.cc),
// through the shared arena (transfer_arena.cc), on a bulk stream (transfer_stream.cc). Their common parts are
// in transfer.cc.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/runtime/session/session.h"
#include "client/runtime/transfer/arena.h"
#include "hlod/runtime/caller.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

// A download in flight, which fills the span that was passed to Download().
class PendingDownload {
 public:
  virtual ~PendingDownload() = default;
  // Returns true when Await would return at once. Makes progress, without waiting.
  virtual bool Ready() = 0;
  // Waits; the span is filled when it returns OK. May be called again after DEADLINE_EXCEEDED. Any other
  // result is final, and returned by later calls, too.
  virtual absl::Status Await(absl::Time deadline) = 0;
};

// A download that consists of one command.
class CommandDownload : public PendingDownload {
 public:
  CommandDownload(std::shared_ptr<Session> session, Command command, absl::Span<std::byte> out)
      : session_(std::move(session)), command_(std::move(command)), out_(out) {}
  // True when the command is done. Await may still have to fetch the bytes.
  bool Ready() override;

 protected:
  const std::shared_ptr<Session> session_;
  const Command command_;
  const absl::Span<std::byte> out_;
};

// An upload to send.
struct UploadRequest {
  uint64_t handle = 0;     // 0 for a new buffer: the session chooses the handle, which is written back here.
  v1::Upload declaration;  // All fields except the handle and the payload.
};

class Transfer {
 public:
  virtual ~Transfer() = default;
  // Declares the buffer and sends its bytes, which the caller may overwrite after the return. Returns the
  // Upload command.
  virtual absl::StatusOr<Command> Upload(Session& session, UploadRequest& request,
                                         absl::Span<const std::byte> bytes, const Caller& caller) = 0;
  // Asks for a buffer's bytes. `out` has the buffer's byte size and must live until the download is done or
  // destroyed.
  virtual std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle,
                                                    Cause cause, absl::Span<std::byte> out,
                                                    const Caller& caller) = 0;
};

Transfer& InlineTransfer();
Transfer& StreamTransfer();
Transfer& ArenaTransfer();
// Returns the kind of transfer for `bytes` bytes in this session.
Transfer& ChooseTransfer(Session& session, int64_t bytes);

// Continues the inline Download `prefetch`, which was sent with the execute. Once it has succeeded, Await
// tells the daemon the read's cause and line.
std::unique_ptr<PendingDownload> ContinuePrefetch(std::shared_ptr<Session> session, Command prefetch,
                                                  Cause cause, absl::Span<std::byte> out,
                                                  const Caller& caller);

// Declares an upload whose bytes are in the arena already, and hands the range to the daemon.
absl::StatusOr<Command> SendStaged(Session& session, UploadRequest& request, ArenaRange range,
                                   const Caller& caller);

// --------------------------------------------------------------------- shared by the implementations

// Adds the declaration of an upload to the transaction, under a new handle unless the request names one.
// `payload` fills in how the bytes are sent.
Command AddUpload(Session::Sender& sender, UploadRequest& request,
                  absl::FunctionRef<void(v1::Upload&)> payload);
// Returns the command that requests a buffer's bytes; the caller adds how they are sent.
v1::Command MakeDownload(uint64_t handle, Cause cause);
// Returns a download that failed before anything was sent.
std::unique_ptr<PendingDownload> FailedDownload(absl::Status status);
// Reads the rest of a buffer on a bulk stream, from byte `offset` on; `out` is for the whole buffer. With an
// `offset` above 0 it continues an earlier Download, and the ledger counts both as one call.
std::unique_ptr<PendingDownload> DownloadOnStream(std::shared_ptr<Session> session, uint64_t handle,
                                                  Cause cause, absl::Span<std::byte> out, int64_t offset,
                                                  const Caller& caller);

}  // namespace hlod::runtime
