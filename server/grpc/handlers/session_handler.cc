// Session.Connect over gRPC.
#include <google/protobuf/arena.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <new>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/crc32c.h"
#include "common/rpc/grpc/checksum.h"
#include "server/grpc/grpc_server.h"
#include "server/session/connection.h"

namespace hlod::grpc_server {
namespace {

// A message is parsed before its limits can be checked: one of 16 MiB may have millions of parts of two
// bytes, each of which takes a hundred bytes in memory. Lists of millions of handles, the most that programs
// need, take less than this.
constexpr int64_t kParsedBytesMax = 128 << 20;
thread_local int64_t parsed_bytes = 0;  // The size of the message that this thread parses.

void* AllocateParsed(size_t bytes) {
  parsed_bytes += static_cast<int64_t>(bytes);
  // OnRead catches it.
  if (parsed_bytes > kParsedBytesMax)
    throw std::bad_alloc();  // tidy: protobuf's allocator refuses in no other way.
  return ::operator new(bytes);
}

// The outgoing side of a session. It outlives the call's handler if the session still refers to it.
class GrpcStream : public session::SessionStream {
 public:
  GrpcStream(session::Registry& registry, std::shared_ptr<Call> call)
      : registry_(registry), call_(std::move(call)) {}
  // Makes messages end with their checksums. Must be called before the first message is written.
  void AddChecksums() { checksums_ = true; }
  void Write(const v1::ServerMessage& message) override {
    grpc::ByteBuffer bytes = checksums_ ? WithChecksum(message) : ToByteBuffer(message);
    registry_.wire_bytes_out += static_cast<int64_t>(bytes.Length());
    call_->Write(std::move(bytes));
  }
  void Finish(const absl::Status& status) override { call_->Finish(status); }

 private:
  static grpc::ByteBuffer WithChecksum(const v1::ServerMessage& message) {
    const size_t bytes = message.ByteSizeLong();
    const grpc::Slice slice(bytes + rpc::kChecksumBytes);
    auto* const begin = const_cast<uint8_t*>(slice.begin());
    message.SerializeWithCachedSizesToArray(begin);
    rpc::WriteChecksum(rpc::Crc32c({reinterpret_cast<const std::byte*>(begin), bytes}), begin + bytes);
    return grpc::ByteBuffer(&slice, 1);
  }
  session::Registry& registry_;
  const std::shared_ptr<Call> call_;
  bool checksums_ = false;
};

class SessionHandler : public CallHandler {
 public:
  SessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                 std::shared_ptr<ReceiveQuota> quota)
      : registry_(registry),
        call_(call),
        quota_(std::move(quota)),
        connection_(registry, std::move(peer)),
        arena_(Options()) {}

  void OnStart() override {
    stream_ = std::make_shared<GrpcStream>(registry_, call_.shared_from_this());
    call_.Read();
  }

  void OnRead(grpc::ByteBuffer& message) override {
    const auto bytes = static_cast<int64_t>(message.Length());
    registry_.wire_bytes_in += bytes;
    quota_->OnMessage(bytes);
    if (const absl::Status intact = checksums_.Check(message); !intact.ok()) return EndStream(intact);
    parsed_bytes = 0;
    bool resumed = false;
    try {
      auto* parsed = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_);
      grpc::ProtoBufferReader reader(&message);
      if (!reader.status().ok() || !parsed->ParseFromZeroCopyStream(&reader)) {
        connection_.OnMalformed(*stream_);
      } else {
        if (!connection_.has_session() && parsed->hello().checksums()) {
          if (!checksums_.seen()) return EndStream(DataLoss("The Hello does not have its checksum."));
          stream_->AddChecksums();
        }
        if (!connection_.has_session() && parsed->has_hello()) {
          if (const absl::Status room = quota_->CheckAdmission(); !room.ok()) return EndStream(room);
          resumed = parsed->hello().has_resume();
        }
        connection_.OnMessage(stream_, *parsed);
      }
    } catch (const std::bad_alloc&) {
      connection_.OnNoMemory(*stream_);
    }
    arena_.Reset();
    if (!admitted_ && connection_.has_session()) {
      admitted_ = true;
      const absl::Status room =
          quota_->Admit(resumed ? ReceiveQuota::How::kResumed : ReceiveQuota::How::kOpened);
      if (!room.ok()) return connection_.Refuse(*stream_, room);
    }
    call_.Read();
  }

  void OnReadsDone() override { EndStream(absl::OkStatus()); }
  void OnWritten() override { connection_.OnWritten(stream_.get()); }
  void OnDone() override {
    connection_.OnClosed(stream_.get());
    stream_.reset();
  }
  bool HasNews() override { return connection_.HasNews(); }
  void OnIdle() override { connection_.Flush(); }

 private:
  // Ends the stream, if it has not ended before. Its session does not end with it: the client may resume the
  // session on another stream.
  void EndStream(const absl::Status& status) {
    connection_.OnClosed(stream_.get());
    call_.Finish(status);
  }
  google::protobuf::ArenaOptions Options() {
    google::protobuf::ArenaOptions options;
    options.initial_block = block_;
    options.initial_block_size = sizeof(block_);
    options.block_alloc = AllocateParsed;
    return options;
  }
  session::Registry& registry_;
  Call& call_;
  const std::shared_ptr<ReceiveQuota> quota_;
  bool admitted_ = false;
  rpc::ChecksumReader checksums_;
  session::Connection connection_;
  std::shared_ptr<GrpcStream> stream_;
  alignas(64) char block_[16 << 10];  // Most messages are parsed without an allocation.
  google::protobuf::Arena arena_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                                                std::shared_ptr<ReceiveQuota> quota) {
  return std::make_unique<SessionHandler>(registry, call, std::move(peer), std::move(quota));
}

}  // namespace hlod::grpc_server
