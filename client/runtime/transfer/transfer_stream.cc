// Bulk streams, for daemons on other hosts, and where shared memory is not available.
#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

// The number of attempts on an intact connection, where only the stream was reset because the daemon was
// short of memory for it; and of those that ended with their connection: more are not the network's bad luck.
constexpr int kAttempts = 10, kBrokenMax = 100;
constexpr absl::Duration kPauseFirst = absl::Milliseconds(5), kPauseMax = absl::Milliseconds(500);
constexpr int64_t kChunkBytes = 1 << 20;  // The fastest size measured.
// The time without a movement after which the daemon is pinged, and the pause between pings.
constexpr absl::Duration kQuestion = absl::Seconds(2);

// Watches the connection of the session for a bulk stream. The stream shares its fate, or is on a later
// connection that gRPC made by itself when the session's broke. Either way a stream on which nothing moves
// can go on only if the session's connection is intact: the daemon may wait for the declaration of that very
// transfer, which was lost with it, and nobody polls the session meanwhile.
class ConnectionWatch {
 public:
  explicit ConnectionWatch(Session& session) : session_(session), connection_(session.connection()) {}
  // Returns false when the connection has broken.
  bool GoesOn(absl::Duration still) {
    if (still < asked_) asked_ = absl::ZeroDuration();  // Something has moved.
    const bool ask = still >= asked_ + kQuestion;
    if (ask) asked_ = still;
    return session_.Watch(connection_, ask);
  }
  // Returns true when the session goes on in another connection than at the begin.
  bool Broken() const { return session_.connection() != connection_; }

 private:
  Session& session_;
  const int64_t connection_;
  absl::Duration asked_;  // The stillness at which the daemon was last asked.
};

// Returns true when an attempt failed for a reason that another may not meet. A refusal by the daemon has a
// kind; a broken stream has one of many codes of gRPC. `pending` means that the daemon has not received the
// declaration of the transfer, which the session sends again; `auth`, that it does not know the session,
// which then learns itself that it is lost.
bool MayPass(const absl::Status& status) {
  const ErrorKind kind = KindOf(status);
  if (kind == ErrorKind::kNone) return !absl::IsDeadlineExceeded(status);
  return kind == ErrorKind::kPending || kind == ErrorKind::kAuth;
}

// Waits for a round trip of the session's stream, which shares the connection: it detects that this is
// broken, reconnects, and sends what was declared again. The daemon answers it after what it has settled
// before.
absl::Status MakeRoundTrip(Session& session, absl::Time deadline) {
  v1::Command ping;
  ping.mutable_ping()->set_at_once(true);
  ASSIGN_OR_RETURN(const Command sent, session.Send({}, std::move(ping)));
  return session.Wait(*sent, deadline);
}

// Runs `attempt` until it succeeds, fails for another reason than the connection, or the session is lost.
// `over` returns true when nothing is left to transfer.
absl::Status WithRetries(Session& session, absl::Time deadline, absl::FunctionRef<bool()> over,
                         absl::FunctionRef<absl::Status(BulkWatch watch)> attempt) {
  for (int failed = 0, broken = 0;;) {
    ConnectionWatch watch(session);  // Before the attempt takes the channel, which may be newer.
    const absl::Status status = attempt([&watch](absl::Duration still) { return watch.GoesOn(still); });
    if (status.ok() || !MayPass(status)) return status;
    RETURN_IF_ERROR(MakeRoundTrip(session, deadline));
    if (over()) return status;
    const int count = watch.Broken() ? ++broken : ++failed;
    if (failed == kAttempts || broken == kBrokenMax) return status;
    absl::SleepFor(std::min(kPauseFirst * (1 << std::min(count - 1, 10)), kPauseMax));
  }
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
      const auto fetch = [&](BulkWatch watch) {
        return session_->connector().bulk()->Download(session_->TransferOf(command_->id), out_, deadline,
                                                      watch);
      };
      absl::Status status = WithRetries(*session_, deadline, [] { return false; }, fetch);
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
    const auto done = [&] { return sent->done.load(std::memory_order_acquire); };
    const absl::Status status = WithRetries(session, absl::InfiniteFuture(), done, [&](BulkWatch watch) {
      return session.connector().bulk()->Upload(
          session.TransferOf(sent->id), bytes, std::min(kChunkBytes, session.daemon().limits.chunk_bytes_max),
          absl::InfiniteFuture(), watch);
    });
    if (status.ok()) return sent;
    // Mostly the daemon has ended the upload when it refuses its stream: then the buffer reports the error,
    // as for every other command. Otherwise nothing would come before upload_wait_us is over.
    RETURN_IF_ERROR(MakeRoundTrip(session, absl::InfiniteFuture()));
    if (done()) return sent;
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
