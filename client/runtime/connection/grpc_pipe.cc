// One completion queue, one stream: reads are always outstanding, writes are made one at a time, and events
// are processed only when a thread polls.
#include "client/runtime/connection/grpc_pipe.h"

#include <grpc/support/time.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/grpc/checksum.h"
#include "common/rpc/grpc/status.h"

namespace hlod::runtime {
namespace {

// The size up to which a copy is cheaper than a slice that refers to the bytes.
constexpr size_t kCopyBytesMax = 4 << 10;

// Added to each deadline: gRPC rounds the time until it down to milliseconds, so that a caller of Poll would
// ask again and again during the last millisecond.
constexpr absl::Duration kDeadlineStep = absl::Milliseconds(1);

gpr_timespec ToGpr(absl::Time time) {
  if (time == absl::InfiniteFuture()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  if (time == absl::InfinitePast()) return gpr_time_0(GPR_CLOCK_MONOTONIC);
  const int64_t ns = absl::ToUnixNanos(time);
  return {ns / 1'000'000'000, static_cast<int32_t>(ns % 1'000'000'000), GPR_CLOCK_REALTIME};
}

// Returns a slice that refers to the bytes and keeps them alive.
grpc::Slice Refer(const std::shared_ptr<const std::string>& bytes) {
  using Holder = std::shared_ptr<const std::string>;
  return grpc::Slice(
      const_cast<char*>(bytes->data()), bytes->size(),
      [](void* holder) { delete static_cast<Holder*>(holder); }, new Holder(bytes));
}

// Joins consecutive small parts into one slice, refers to large ones, and appends the checksum of all.
grpc::ByteBuffer ToBuffer(const MessageParts& parts) {
  absl::InlinedVector<grpc::Slice, 4> slices;
  for (size_t i = 0; i < parts.size();) {
    size_t bytes = 0, end = i;
    for (; end < parts.size() && parts[end]->size() <= kCopyBytesMax; ++end) bytes += parts[end]->size();
    if (end == i) {
      slices.push_back(Refer(parts[i++]));
      continue;
    }
    const grpc::Slice& together = slices.emplace_back(bytes);
    uint8_t* to = const_cast<uint8_t*>(together.begin());
    for (; i < end; ++i) to = std::copy(parts[i]->begin(), parts[i]->end(), to);
  }
  uint32_t crc = 0;
  for (const auto& part : parts)
    crc = rpc::Crc32c({reinterpret_cast<const std::byte*>(part->data()), part->size()}, crc);
  rpc::WriteChecksum(crc, const_cast<uint8_t*>(slices.emplace_back(rpc::kChecksumBytes).begin()));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

class GrpcPipe : public Pipe {
 public:
  GrpcPipe(std::shared_ptr<grpc::Channel> channel, const std::string& token)
      : channel_(std::move(channel)), stub_(channel_) {
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  }

  ~GrpcPipe() override {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  absl::Status Open(absl::Time deadline) {
    call_ = stub_.PrepareCall(&context_, "/hlod.v1.Session/Connect", &queue_);
    call_->StartCall(Tag(kStart));
    void* tag;
    bool ok;
    const auto next = queue_.AsyncNext(&tag, &ok, ToGpr(deadline));
    if (next == grpc::CompletionQueue::TIMEOUT)
      return DeadlineExceeded("The daemon could not be reached in time.");
    call_->Read(&incoming_, Tag(kRead));
    return absl::OkStatus();
  }

  bool StartWrite(MessageParts message) override {
    call_->Write(ToBuffer(message), Tag(kWrite));
    return false;
  }

  PipeEvent Poll(absl::Time deadline) override {
    PipeEvent event;
    const absl::Time until = deadline == absl::InfinitePast() ? deadline : deadline + kDeadlineStep;
    void* tag;
    bool ok;
    // The end of some operations is not an event of the session. It goes on to the next one, which may follow
    // at once: a caller that does not wait would see it only when it comes again.
    while (!ended_ && event.kind == PipeEvent::Kind::kNothing &&
           queue_.AsyncNext(&tag, &ok, ToGpr(until)) == grpc::CompletionQueue::GOT_EVENT)
      Handle(static_cast<TagValue>(reinterpret_cast<intptr_t>(tag)), ok, event);
    return event;
  }

  bool checksums() const override { return true; }
  void FinishWrites() override { call_->WritesDone(Tag(kWritesDone)); }
  void Cancel() override { context_.TryCancel(); }

 private:
  enum TagValue : intptr_t { kStart = 1, kWrite, kRead, kFinish, kWritesDone };
  static void* Tag(TagValue value) { return reinterpret_cast<void*>(value); }

  // Handles an operation that has ended, which may be an event for the session.
  void Handle(TagValue operation, bool ok, PipeEvent& event) {
    switch (operation) {
      case kWrite:
        // A failed write is followed by a failed read, which has the reason.
        if (ok) event.kind = PipeEvent::Kind::kWritten;
        break;
      case kRead:
        if (!ok) {
          call_->Finish(&status_, Tag(kFinish));
          break;
        }
        corrupt_ = checksums_.Check(incoming_);
        if (corrupt_.ok() &&
            !grpc::SerializationTraits<v1::ServerMessage>::Deserialize(&incoming_, &event.message).ok())
          corrupt_ = DataLoss("The bytes of a message are not a hlod.v1.ServerMessage.");
        if (corrupt_.ok() && event.message.welcome().checksums() && !checksums_.seen())
          corrupt_ = DataLoss("The daemon's Welcome does not have its checksum.");
        if (!corrupt_.ok()) {
          context_.TryCancel();
          call_->Finish(&status_, Tag(kFinish));
          break;
        }
        incoming_.Clear();
        call_->Read(&incoming_, Tag(kRead));
        event.kind = PipeEvent::Kind::kRead;
        break;
      case kFinish:
        ended_ = true;
        event.kind = PipeEvent::Kind::kEnded;
        event.status = corrupt_.ok() ? rpc::FromGrpc(status_) : corrupt_;
        break;
      case kStart:
      case kWritesDone: break;
    }
  }

  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer incoming_;
  grpc::Status status_;
  rpc::ChecksumReader checksums_;
  absl::Status corrupt_;  // The reason if this side ended the stream, otherwise OK.
  bool ended_ = false;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Pipe>> OpenGrpcPipe(std::shared_ptr<grpc::Channel> channel,
                                                   const std::string& token, absl::Time deadline) {
  std::shared_ptr<GrpcPipe> pipe = std::make_shared<GrpcPipe>(std::move(channel), token);
  RETURN_IF_ERROR(pipe->Open(deadline));
  return pipe;
}

}  // namespace hlod::runtime
