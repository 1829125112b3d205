// Small payloads are sent in the command and in the reply.
#include <cstring>
#include <utility>

#include "client/runtime/session/state.h"
#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"

namespace hlod::runtime {
namespace {

class InlineDownload : public CommandDownload {
 public:
  using CommandDownload::CommandDownload;

  absl::Status Await(absl::Time deadline) override {
    RETURN_IF_ERROR(session_->Wait(*command_, deadline));
    const std::string& bytes = command_->reply.download().inline_();
    if (bytes.size() != out_.size()) {
      return MakeError(ErrorKind::kCorrupt, absl::StrFormat("The daemon sent %d bytes of a buffer of %d.",
                                                            bytes.size(), out_.size()));
    }
    if (!bytes.empty()) std::memcpy(out_.data(), bytes.data(), bytes.size());
    return absl::OkStatus();
  }
};

class Prefetch : public InlineDownload {
 public:
  Prefetch(std::shared_ptr<Session> session, Command command, Cause cause, absl::Span<std::byte> out,
           const Caller& caller)
      : InlineDownload(std::move(session), std::move(command), out), cause_(cause), caller_(caller) {}

  absl::Status Await(absl::Time deadline) override {
    RETURN_IF_ERROR(InlineDownload::Await(deadline));
    if (!std::exchange(told_, true)) TellRead(*session_, *command_, cause_, caller_);
    return absl::OkStatus();
  }

 private:
  const Cause cause_;
  const Caller caller_;
  bool told_ = false;
};

class Inline : public Transfer {
 public:
  absl::StatusOr<Command> Upload(Session& session, UploadRequest& request, absl::Span<const std::byte> bytes,
                                 const Caller& caller) override {
    Command sent;
    RETURN_IF_ERROR(session.TransactLazily(caller, [&](Session::Sender& sender) {
      sent = AddUpload(sender, request, [&](v1::Upload& upload) {
        upload.set_inline_(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      });
    }));
    return sent;
  }

  std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle, Cause cause,
                                            absl::Span<std::byte> out, const Caller& caller) override {
    v1::Command command = MakeDownload(handle, cause);
    command.mutable_download()->set_inline_(true);
    absl::StatusOr<Command> sent = session->Send(caller, std::move(command));
    if (!sent.ok()) return FailedDownload(sent.status());
    return std::make_unique<InlineDownload>(std::move(session), *std::move(sent), out);
  }
};

}  // namespace

std::unique_ptr<PendingDownload> ContinuePrefetch(std::shared_ptr<Session> session, Command prefetch,
                                                  Cause cause, absl::Span<std::byte> out,
                                                  const Caller& caller) {
  return std::make_unique<Prefetch>(std::move(session), std::move(prefetch), cause, out, caller);
}

Transfer& InlineTransfer() {
  static Inline transfer;
  return transfer;
}

}  // namespace hlod::runtime
