// Bulk streams as raw chunks. The payload is not copied when it is sent, and copied once when it is received.
#include <grpc/support/time.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connection/grpc_pipe.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "common/rpc/grpc/chunk.h"
#include "common/rpc/grpc/status.h"

namespace hlod::runtime {
namespace {

// The pause between two questions to the watch of a stream on which nothing moves.
constexpr absl::Duration kWatchPause = absl::Milliseconds(250);

// One call on its own queue. Every operation is waited for until the watch gives it up, at most for
// `silence`. The destructor cancels the current operation.
class BlockingCall {
 public:
  BlockingCall(grpc::GenericStub& stub, const std::string& method, const std::string& token,
               absl::Time deadline, absl::Duration silence, BulkWatch watch)
      : silence_(silence), watch_(watch) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    if (deadline != absl::InfiniteFuture()) context_.set_deadline(absl::ToChronoTime(deadline));
    call_ = stub.PrepareCall(&context_, method, &queue_);
    call_->StartCall(nullptr);
    started_ = Next();
  }
  ~BlockingCall() {
    context_.TryCancel();
    queue_.Shutdown();
    while (Next()) {
    }
  }

  bool Write(const grpc::ByteBuffer& message) {
    if (!started_) return false;
    call_->Write(message, nullptr);
    return Next();
  }
  bool WritesDone() {
    if (!started_) return false;
    call_->WritesDone(nullptr);
    return Next();
  }
  bool Read(grpc::ByteBuffer& message) {
    if (!started_) return false;
    call_->Read(&message, nullptr);
    return Next();
  }
  absl::Status Finish() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Next();
    return given_up_.ok() ? rpc::FromGrpc(status) : given_up_;
  }

 private:
  bool Next() {
    void* tag;
    bool ok;
    const absl::Time begin = absl::Now();
    while (silence_ < absl::InfiniteDuration() && given_up_.ok()) {
      switch (queue_.AsyncNext(&tag, &ok, absl::ToChronoTime(absl::Now() + kWatchPause))) {
        case grpc::CompletionQueue::GOT_EVENT: return ok;
        case grpc::CompletionQueue::SHUTDOWN: return false;
        case grpc::CompletionQueue::TIMEOUT: break;
      }
      const absl::Duration still = absl::Now() - begin;
      if (!watch_(still)) {
        given_up_ = Unavailable("The connection broke while nothing moved on a bulk stream for %s.",
                                absl::FormatDuration(still));
      } else if (still >= silence_) {
        given_up_ = Unavailable("Nothing moved on a bulk stream for %s.", absl::FormatDuration(still));
      }
      if (!given_up_.ok()) context_.TryCancel();  // The operation under way then ends.
    }
    return queue_.Next(&tag, &ok) && ok;
  }

  const absl::Duration silence_;
  const BulkWatch watch_;
  absl::Status given_up_;  // The reason if this side gave the stream up, otherwise OK.
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  bool started_ = false;
};

class GrpcBulk : public BulkChannel {
 public:
  GrpcBulk(std::shared_ptr<grpc::Channel> channel, const std::string& token, absl::Duration silence)
      : channel_(std::move(channel)), stub_(channel_), token_(token), silence_(silence) {}

  absl::Status Upload(const v1::TransferId& transfer, absl::Span<const std::byte> bytes, int64_t chunk_bytes,
                      absl::Time deadline, BulkWatch watch) override {
    BlockingCall call(stub_, "/hlod.v1.Bulk/Upload", token_, deadline, silence_, watch);
    bool writable = true;
    for (size_t sent = 0; writable && (sent < bytes.size() || sent == 0);) {
      const absl::Span<const std::byte> data = bytes.subspan(sent, static_cast<size_t>(chunk_bytes));
      writable = call.Write(rpc::EncodeChunk(sent == 0 ? &transfer : nullptr, data));
      sent += data.size();
      if (data.empty()) break;
    }
    if (writable) call.WritesDone();
    grpc::ByteBuffer answer;
    call.Read(answer);  // UploadDone has no information beyond the status.
    return call.Finish();
  }

  absl::Status Download(const v1::TransferId& transfer, absl::Span<std::byte> out, absl::Time deadline,
                        BulkWatch watch) override {
    BlockingCall call(stub_, "/hlod.v1.Bulk/Download", token_, deadline, silence_, watch);
    const std::string request = transfer.SerializeAsString();
    const grpc::Slice slice(request);
    if (call.Write(grpc::ByteBuffer(&slice, 1))) call.WritesDone();
    size_t received = 0;
    grpc::ByteBuffer message;
    while (call.Read(message)) {
      const absl::StatusOr<rpc::ReceivedChunk> chunk = rpc::DecodeChunk(
          message, [&](const rpc::ReceivedChunk& header) -> absl::StatusOr<absl::Span<std::byte>> {
            if (header.size > static_cast<int64_t>(out.size() - received)) {
              return MakeError(
                  ErrorKind::kCorrupt,
                  absl::StrFormat("The daemon sent more than the %d bytes of the buffer.", out.size()));
            }
            return out.subspan(received, static_cast<size_t>(header.size));
          });
      if (!chunk.ok()) return chunk.status();
      received += static_cast<size_t>(chunk->size);
    }
    RETURN_IF_ERROR(call.Finish());
    if (received != out.size()) {
      return MakeError(ErrorKind::kCorrupt,
                       absl::StrFormat("The daemon sent %d bytes of a buffer of %d.", received, out.size()));
    }
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  const std::string token_;
  const absl::Duration silence_;
};

}  // namespace

std::shared_ptr<BulkChannel> MakeGrpcBulk(std::shared_ptr<grpc::Channel> channel, const std::string& token,
                                          absl::Duration silence) {
  return std::make_shared<GrpcBulk>(std::move(channel), token, silence);
}

}  // namespace hlod::runtime
