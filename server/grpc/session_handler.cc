// Session.Connect over gRPC.
#include <google/protobuf/arena.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <new>
#include <utility>

#include "server/grpc/grpc_server.h"
#include "server/session/connection.h"

namespace hlod::grpc_server {
namespace {

// A message is parsed before its limits can be asked: one of 16 MiB may be of millions of parts of two bytes,
// each of them a hundred in memory. Lists of millions of handles, the most that programs need, take less than
// this.
constexpr int64_t kParsedBytesMax = 128 << 20;
thread_local int64_t parsed_bytes = 0;  // Of the message that this thread parses.

void* AllocateParsed(size_t bytes) {
  parsed_bytes += static_cast<int64_t>(bytes);
  // OnRead catches it.
  if (parsed_bytes > kParsedBytesMax)
    throw std::bad_alloc();  // tidy: protobuf's allocator refuses in no other way.
  return ::operator new(bytes);
}

// The session's way out. It outlives the call's handler when the session still holds it.
class GrpcStream : public session::SessionStream {
 public:
  GrpcStream(session::Registry& registry, std::shared_ptr<Call> call)
      : registry_(registry), call_(std::move(call)) {}
  void Write(const v1::ServerMessage& message) override {
    grpc::ByteBuffer bytes = ToByteBuffer(message);
    registry_.wire_bytes_out += static_cast<int64_t>(bytes.Length());
    call_->Write(std::move(bytes));
  }
  void Finish(const absl::Status& status) override { call_->Finish(status); }

 private:
  session::Registry& registry_;
  const std::shared_ptr<Call> call_;
};

class SessionHandler : public CallHandler {
 public:
  SessionHandler(session::Registry& registry, Call& call, session::Peer peer)
      : registry_(registry), call_(call), connection_(registry, std::move(peer)), arena_(Options()) {}

  void OnStart() override {
    stream_ = std::make_shared<GrpcStream>(registry_, call_.shared_from_this());
    call_.Read();
  }

  void OnRead(grpc::ByteBuffer& message) override {
    const auto bytes = static_cast<int64_t>(message.Length());
    registry_.wire_bytes_in += bytes;
    parsed_bytes = 0;
    try {
      auto* parsed = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_);
      grpc::ProtoBufferReader reader(&message);
      if (reader.status().ok() && parsed->ParseFromZeroCopyStream(&reader)) {
        connection_.OnMessage(stream_, *parsed);
      } else {
        connection_.OnMalformed(*stream_);
      }
    } catch (const std::bad_alloc&) {
      connection_.OnNoMemory(*stream_);
    }
    arena_.Reset();
    call_.Read();
  }

  void OnReadsDone() override {
    connection_.OnClosed(stream_.get());
    call_.Finish(absl::OkStatus());  // Unless it was ended otherwise before.
  }
  void OnWritten() override { connection_.OnWritten(stream_.get()); }
  void OnDone() override {
    connection_.OnClosed(stream_.get());
    stream_.reset();
  }
  bool HasNews() override { return connection_.HasNews(); }
  void OnIdle() override { connection_.Flush(); }

 private:
  google::protobuf::ArenaOptions Options() {
    google::protobuf::ArenaOptions options;
    options.initial_block = block_;
    options.initial_block_size = sizeof(block_);
    options.block_alloc = AllocateParsed;
    return options;
  }
  session::Registry& registry_;
  Call& call_;
  session::Connection connection_;
  std::shared_ptr<GrpcStream> stream_;
  alignas(64) char block_[16 << 10];  // Most messages are parsed without an allocation.
  google::protobuf::Arena arena_;
};

}  // namespace

std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call, session::Peer peer) {
  return std::make_unique<SessionHandler>(registry, call, std::move(peer));
}

}  // namespace hlod::grpc_server
