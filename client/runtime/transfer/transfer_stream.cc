// Bulk streams, for daemons on other hosts, and where shared memory is not available.
#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

// The number of attempts per transfer, because the connection may break and be re-established meanwhile.
constexpr int kAttempts = 10;
constexpr absl::Duration kPauseFirst = absl::Milliseconds(5), kPauseMax = absl::Milliseconds(500);
constexpr int64_t kChunkBytes = 1 << 20;  // The fastest size measured.

// Runs `attempt` until it succeeds, fails for another reason than the connection, or the session is lost.
template <typename Attempt>
absl::Status WithRetries(Session& session, Attempt attempt) {
  absl::Status status;
  for (int i = 0; i < kAttempts; ++i) {
    status = attempt();
    // A refusal by the daemon has a kind; a broken stream has one of many codes of gRPC.
    if (status.ok() || KindOf(status) != ErrorKind::kNone ||
        status.code() == absl::StatusCode::kDeadlineExceeded)
      return status;
    // The session's stream shares the connection: a round trip detects that it is broken, reconnects, and
    // sends the declaration again.
    v1::Command ping;
    ping.mutable_ping()->set_at_once(true);
    ASSIGN_OR_RETURN(const Command sent, session.Send({}, std::move(ping)));
    RETURN_IF_ERROR(session.Wait(*sent));
    // If the connection is intact, only the stream was reset, because the daemon was short of memory for it.
    absl::SleepFor(std::min(kPauseFirst * (1 << i), kPauseMax));
  }
  return status;
}

class StreamDownload : public CommandDownload {
 public:
  using CommandDownload::CommandDownload;
  ~StreamDownload() override { session_->ReleaseAcknowledgement(command_->id); }

  bool Ready() override { return result_.has_value() || CommandDownload::Ready(); }

  absl::Status Await(absl::Time deadline) override {
    if (result_.has_value()) return *result_;
    RETURN_IF_ERROR(session_->Wait(*command_, deadline));
    if (!command_->reply.download().stream()) {
      result_ = MakeError(ErrorKind::kCorrupt, "The daemon did not offer the bytes on a stream.");
    } else {
      absl::Status status = WithRetries(*session_, [&] {
        return session_->connector().bulk()->Download(session_->TransferOf(command_->id), out_, deadline);
      });
      // The daemon keeps the bytes, so the caller may try again.
      if (absl::IsDeadlineExceeded(status) && deadline < absl::InfiniteFuture()) return status;
      result_ = std::move(status);
    }
    session_->ReleaseAcknowledgement(command_->id);
    return *result_;
  }

 private:
  std::optional<absl::Status> result_;
};

class Stream : public Transfer {
 public:
  absl::StatusOr<Command> Upload(Session& session, UploadRequest& request, absl::Span<const std::byte> bytes,
                                 const Caller& caller) override {
    Command sent;
    RETURN_IF_ERROR(session.Transact(caller, [&](Session::Sender& sender) {
      sent = AddUpload(sender, request, [](v1::Upload& upload) { upload.set_stream(true); });
    }));
    const absl::Status status = WithRetries(session, [&] {
      return session.connector().bulk()->Upload(
          session.TransferOf(sent->id), bytes, std::min(kChunkBytes, session.daemon().limits.chunk_bytes_max),
          absl::InfiniteFuture());
    });
    // A refusal by the daemon is reported by the buffer, as for every other command; only a broken connection
    // is reported here.
    if (status.ok() || KindOf(status) != ErrorKind::kNone || sent->done.load(std::memory_order_acquire))
      return sent;
    RETURN_IF_ERROR(session.status());
    return status;
  }

  std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle, Cause cause,
                                            absl::Span<std::byte> out, const Caller& caller) override {
    return DownloadOnStream(std::move(session), handle, cause, out, 0, caller);
  }
};

}  // namespace

Transfer& StreamTransfer() {
  static Stream transfer;
  return transfer;
}

std::unique_ptr<PendingDownload> DownloadOnStream(std::shared_ptr<Session> session, uint64_t handle,
                                                  Cause cause, absl::Span<std::byte> out, int64_t offset,
                                                  const Caller& caller) {
  v1::Command command = MakeDownload(handle, cause);
  v1::Download& download = *command.mutable_download();
  download.set_stream(true);
  const absl::Span<std::byte> rest = out.subspan(static_cast<size_t>(offset));
  if (offset > 0) {
    download.set_offset(static_cast<uint64_t>(offset));
    download.set_length(rest.size());
    download.set_continued(true);
  }
  Command sent;
  const absl::Status status = session->Transact(caller, [&](Session::Sender& sender) {
    sent = sender.Add(std::move(command));
    sender.HoldAcknowledgement(sent->id);
  });
  if (!status.ok()) return FailedDownload(status);
  return std::make_unique<StreamDownload>(std::move(session), std::move(sent), rest);
}

}  // namespace hlod::runtime
