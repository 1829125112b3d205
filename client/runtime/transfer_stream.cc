// Bulk streams: for other hosts, and for whoever has no shared memory.
#include <algorithm>
#include <utility>

#include "client/runtime/transfer.h"
#include "common/base/status.h"

namespace hlod::internal {
namespace {

constexpr int kAttempts = 10;             // Of one transfer: the connection may break and be mended under it.
constexpr int64_t kChunkBytes = 1 << 20;  // The fastest size measured.

// Runs `attempt` until it succeeds, fails for a reason of its own, or the session is lost.
template <typename Attempt>
absl::Status WithRetries(Session& session, Attempt attempt) {
  absl::Status status;
  for (int i = 0; i < kAttempts; ++i) {
    status = attempt();
    // What the daemon refuses has a kind; a stream that broke has gRPC's own codes, of many sorts.
    if (status.ok() || KindOf(status) != ErrorKind::kNone ||
        status.code() == absl::StatusCode::kDeadlineExceeded)
      return status;
    // The session's stream shares the connection: a round trip notices that it broke, mends it, and sends the
    // declaration again.
    v1::Command ping;
    ping.mutable_ping()->set_at_once(true);
    ASSIGN_OR_RETURN(const Command sent, session.Send({}, std::move(ping)));
    RETURN_IF_ERROR(session.Wait(*sent));
  }
  return status;
}

class StreamDownload : public PendingDownload {
 public:
  StreamDownload(std::shared_ptr<Session> session, Command command, absl::Span<std::byte> out)
      : session_(std::move(session)), command_(std::move(command)), out_(out) {}
  ~StreamDownload() override { session_->ReleaseAcknowledgement(command_->id); }

  bool Ready() override {
    if (!result_.has_value() && !command_->done.load(std::memory_order_acquire)) session_->Drain();
    return result_.has_value() || command_->done.load(std::memory_order_acquire);
  }

  absl::Status Await(absl::Time deadline) override {
    if (result_.has_value()) return *result_;
    RETURN_IF_ERROR(session_->Wait(*command_, deadline));
    if (!command_->reply.download().stream()) {
      result_ = MakeError(ErrorKind::kCorrupt, "The daemon did not offer the bytes on a stream.");
    } else {
      absl::Status status = WithRetries(*session_, [&] {
        return session_->connector().bulk()->Download(session_->TransferOf(command_->id), out_, deadline);
      });
      // The daemon keeps the bytes: it may be tried again.
      if (absl::IsDeadlineExceeded(status) && deadline < absl::InfiniteFuture()) return status;
      result_ = std::move(status);
    }
    session_->ReleaseAcknowledgement(command_->id);
    return *result_;
  }

 private:
  const std::shared_ptr<Session> session_;
  const Command command_;
  const absl::Span<std::byte> out_;
  std::optional<absl::Status> result_;
};

class Stream : public Transfer {
 public:
  absl::StatusOr<Command> Upload(Session& session, UploadRequest& request, absl::Span<const std::byte> bytes,
                                 const Caller& caller) override {
    Command sent;
    RETURN_IF_ERROR(session.Transact(caller, [&](Session::Sender& sender) {
      if (request.handle == 0) request.handle = sender.NewHandle();
      v1::Command command;
      v1::Upload& upload = *command.mutable_upload();
      upload = request.declaration;
      upload.set_handle(request.handle);
      upload.set_stream(true);
      sent = sender.Add(std::move(command));
    }));
    const absl::Status status = WithRetries(session, [&] {
      return session.connector().bulk()->Upload(session.TransferOf(sent->id), bytes,
                                                std::min(kChunkBytes, session.limits().chunk_bytes_max),
                                                absl::InfiniteFuture());
    });
    // What the daemon refused is told by the buffer, as for every other command; only a broken way is told
    // here.
    if (status.ok() || KindOf(status) != ErrorKind::kNone || sent->done.load(std::memory_order_acquire))
      return sent;
    RETURN_IF_ERROR(session.status());
    return status;
  }

  std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle, Cause cause,
                                            absl::Span<std::byte> out, const Caller& caller) override {
    Command sent;
    const absl::Status status = session->Transact(caller, [&](Session::Sender& sender) {
      v1::Command command;
      v1::Download& download = *command.mutable_download();
      download.set_handle(handle);
      download.set_cause(static_cast<int>(cause));
      download.set_stream(true);
      sent = sender.Add(std::move(command));
      sender.HoldAcknowledgement(sent->id);
    });
    if (!status.ok()) return FailedDownload(status);
    return std::make_unique<StreamDownload>(std::move(session), std::move(sent), out);
  }
};

}  // namespace

Transfer& StreamTransfer() {
  static Stream transfer;
  return transfer;
}

}  // namespace hlod::internal
