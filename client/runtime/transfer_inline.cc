// Small payloads ride in the command and in the reply.
#include <cstring>
#include <utility>

#include "client/runtime/transfer.h"
#include "common/base/status.h"

namespace hlod::internal {
namespace {

class InlineDownload : public PendingDownload {
 public:
  InlineDownload(std::shared_ptr<Session> session, Command command, absl::Span<std::byte> out)
      : session_(std::move(session)), command_(std::move(command)), out_(out) {}

  bool Ready() override {
    if (!command_->done.load(std::memory_order_acquire)) session_->Drain();
    return command_->done.load(std::memory_order_acquire);
  }

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

 private:
  const std::shared_ptr<Session> session_;
  const Command command_;
  const absl::Span<std::byte> out_;
};

class Inline : public Transfer {
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
      upload.set_inline_(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      sent = sender.Add(std::move(command));
    }));
    return sent;
  }

  std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle, Cause cause,
                                            absl::Span<std::byte> out, const Caller& caller) override {
    v1::Command command;
    v1::Download& download = *command.mutable_download();
    download.set_handle(handle);
    download.set_cause(static_cast<int>(cause));
    download.set_inline_(true);
    absl::StatusOr<Command> sent = session->Send(caller, std::move(command));
    if (!sent.ok()) return FailedDownload(sent.status());
    return std::make_unique<InlineDownload>(std::move(session), *std::move(sent), out);
  }
};

class Failed : public PendingDownload {
 public:
  explicit Failed(absl::Status status) : status_(std::move(status)) {}
  bool Ready() override { return true; }
  absl::Status Await(absl::Time) override { return status_; }

 private:
  const absl::Status status_;
};

}  // namespace

Transfer& InlineTransfer() {
  static Inline transfer;
  return transfer;
}

std::unique_ptr<PendingDownload> FailedDownload(absl::Status status) {
  return std::make_unique<Failed>(std::move(status));
}

Transfer& ChooseTransfer(Session& session, int64_t bytes) {
  if (bytes <= session.limits().inline_bytes_max) return InlineTransfer();
  return session.arena() != nullptr ? ArenaTransfer() : StreamTransfer();
}

}  // namespace hlod::internal
