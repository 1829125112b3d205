// Bulk.Download over gRPC: sends slices that refer to device memory. The transfer thread computes their
// checksums one chunk ahead of the wire.
#include <algorithm>
#include <atomic>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/grpc/chunk.h"
#include "server/grpc/handlers/bulk_handler.h"

namespace hlod::grpc_server {
namespace {

constexpr int64_t kChunkBytes = 1 << 20;  // The fastest size measured.
constexpr int kDownloadChunksAhead = 3;

class DownloadStream : public session::BulkStream, public std::enable_shared_from_this<DownloadStream> {
 public:
  DownloadStream(session::Registry& registry, std::shared_ptr<Call> call, std::shared_ptr<ReceiveQuota> quota)
      : registry_(registry), call_(std::move(call)), quota_(std::move(quota)) {}

  void OnStart() { call_->Read(); }
  bool AwaitsTurn() const { return false; }

  void OnRead(grpc::ByteBuffer& request) {
    v1::TransferId id;
    absl::Status status;
    if (!id.ParseFromString(ToString(request))) {
      status = MakeError(ErrorKind::kViolation, "The request of a bulk download is not a TransferId.");
    } else if (absl::StatusOr<std::shared_ptr<session::Session>> session =
                   registry_.Authenticate(id.session(), id.secret());
               !session.ok()) {
      status = session.status();
    } else if (status = quota_->Admit(); !status.ok()) {
    } else if (status = (*session)->transfers().AddBulkStream(shared_from_this()); !status.ok()) {
    } else if (absl::StatusOr<std::shared_ptr<session::KeptDownload>> kept =
                   (*session)->transfers().FindDownload(id.command());
               !kept.ok()) {
      status = kept.status();
    } else {
      session_ = *std::move(session);
      kept_ = *std::move(kept);
      bytes_ = kept_->bytes;
      chunk_ = std::min(kChunkBytes, session_->limits().chunk_bytes_max);
      for (int i = 0; i < kDownloadChunksAhead; ++i) Post();
      return;
    }
    call_->Finish(status);
  }

  void Stop() override {
    stopped_ = true;
    call_->Cancel();
  }

  void OnReadsDone() { call_->Finish(InvalidArgument("A bulk download without a request.")); }
  void OnDone() {}

  void OnWritten() {
    if (session_ == nullptr) return;
    ++written_;
    if (written_ * chunk_ < bytes_.bytes) return Post();
    if (std::exchange(counted_, true)) return;
    session_->transfers().CountDownload(*kept_);
    call_->Finish(absl::OkStatus());
  }

 private:
  void Post() {
    registry_.devices().transfers().Submit(session_->identity().id, 0, [self = shared_from_this()] {
      Guarded(*self->call_, [&] { self->WriteNext(); });
    });
  }

  // Runs on the transfer thread.
  void WriteNext() {
    if (stopped_) return;  // The session has ended, and perhaps the daemon, too.
    if (sent_ == bytes_.bytes && !(bytes_.bytes == 0 && !std::exchange(empty_sent_, true))) return;
    const int64_t size = std::min(chunk_, bytes_.bytes - sent_);
    // The payload's slice owns a copy of the pin, because gRPC may keep it longer than the session lives.
    using Share = std::shared_ptr<const void>;
    const grpc::Slice payload(
        const_cast<std::byte*>(bytes_.data + sent_), static_cast<size_t>(size),
        [](void* share) { delete static_cast<Share*>(share); }, new Share(bytes_.pin));
    grpc::ByteBuffer message = rpc::EncodeChunkSlice(nullptr, payload);
    registry_.wire_bytes_out += static_cast<int64_t>(message.Length());
    sent_ += size;
    call_->Write(std::move(message));
  }

  session::Registry& registry_;
  const std::shared_ptr<Call> call_;
  const std::shared_ptr<ReceiveQuota> quota_;
  std::atomic<bool> stopped_{false};
  // Set by OnRead.
  std::shared_ptr<session::Session> session_;
  std::shared_ptr<session::KeptDownload> kept_;
  device::ReadyBytes bytes_;  // The pin keeps the bytes even if the client has acknowledged the download.
  int64_t chunk_ = kChunkBytes;
  // Used by the transfer thread.
  int64_t sent_ = 0;
  bool empty_sent_ = false;
  // Used by the queue's thread.
  int64_t written_ = 0;
  bool counted_ = false;
};

}  // namespace

std::unique_ptr<CallHandler> MakeDownloadHandler(session::Registry& registry, Call& call,
                                                 std::shared_ptr<ReceiveQuota> quota) {
  return std::make_unique<BulkHandler<DownloadStream>>(registry, call, std::move(quota));
}

}  // namespace hlod::grpc_server
