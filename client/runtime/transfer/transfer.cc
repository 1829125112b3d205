// The common parts of the three kinds of transfer, and the choice among them.
#include "client/runtime/transfer/transfer.h"

#include <utility>

namespace hlod::runtime {
namespace {

class Refused : public PendingDownload {
 public:
  explicit Refused(absl::Status status) : status_(std::move(status)) {}
  bool Ready() override { return true; }
  absl::Status Await(absl::Time) override { return status_; }

 private:
  const absl::Status status_;
};

}  // namespace

bool CommandDownload::Ready() {
  if (!command_->done.load(std::memory_order_acquire)) session_->Drain();
  return command_->done.load(std::memory_order_acquire);
}

Transfer& ChooseTransfer(Session& session, int64_t bytes) {
  if (bytes <= session.daemon().limits.inline_bytes_max) return InlineTransfer();
  return session.arena() != nullptr ? ArenaTransfer() : StreamTransfer();
}

Command AddUpload(Session::Sender& sender, UploadRequest& request,
                  absl::FunctionRef<void(v1::Upload&)> payload) {
  if (request.handle == 0) request.handle = sender.NewHandle();
  v1::Command command;
  v1::Upload& upload = *command.mutable_upload();
  upload = request.declaration;
  upload.set_handle(request.handle);
  payload(upload);
  return sender.Add(std::move(command));
}

v1::Command MakeDownload(uint64_t handle, Cause cause) {
  v1::Command command;
  command.mutable_download()->set_handle(handle);
  command.mutable_download()->set_cause(static_cast<int>(cause));
  return command;
}

std::unique_ptr<PendingDownload> FailedDownload(absl::Status status) {
  return std::make_unique<Refused>(std::move(status));
}

}  // namespace hlod::runtime
