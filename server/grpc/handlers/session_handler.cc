// Session.Connect over gRPC.
#include <google/protobuf/arena.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "common/base/errors/status.h"
#include "common/base/system/mutex.h"
#include "common/rpc/grpc/checksum.h"
#include "common/rpc/ring.h"
#include "server/grpc/grpc_server.h"
#include "server/grpc/handlers/grpc_stream.h"
#include "server/session/connection.h"
#include "server/session/ring/ring_thread.h"

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

// Messages come on the call or in the ring, never both at once: in_ring_ says which. The thread of the other
// way waits, so the members that handle a message need no lock.
class SessionHandler : public CallHandler, private session::RingEvents {
 public:
  SessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                 std::shared_ptr<ReceiveQuota> quota)
      : registry_(registry),
        call_(call),
        quota_(std::move(quota)),
        connection_(registry, std::move(peer)),
        arena_(Options()) {}
  ~SessionHandler() override { EndRing(); }

  void OnStart() override {
    stream_ = std::make_shared<GrpcStream>(registry_, call_.shared_from_this());
    call_.Read();
  }

  void OnRead(grpc::ByteBuffer& message) override {
    {
      MutexLock lock(&ring_mu_);
      if (in_ring_) {
        // It comes after a record that the ring's thread has not read yet.
        held_ = std::move(message);
        return;
      }
    }
    OnStreamMessage(message);
  }

  void OnReadsDone() override {
    {
      MutexLock lock(&ring_mu_);
      reads_done_ = true;
      // The messages that were written into the ring before are handled first.
      if (in_ring_) return ring_thread_->Close();
    }
    EndStream(absl::OkStatus());
  }
  void OnWritten() override {
    Resumably([this] { connection_.OnWritten(stream_.get()); });
  }
  void OnDone() override {
    EndRing();
    connection_.OnClosed(stream_.get());
    stream_.reset();
  }
  bool HasNews() override { return connection_.HasNews(); }
  void OnIdle() override {
    Resumably([this] { connection_.Flush(); });
  }

 private:
  // Handles a message of the call, and asks for the next one.
  void OnStreamMessage(grpc::ByteBuffer& message) {
    const auto bytes = static_cast<int64_t>(message.Length());
    registry_.wire_bytes_in += bytes;
    quota_->OnMessage(bytes);
    if (const absl::Status intact = checksums_.Check(message); !intact.ok()) return EndStream(intact);
    bool resumed = false, ring = false;
    const bool go_on = Handle([&](v1::ClientMessage& parsed) {
      grpc::ProtoBufferReader reader(&message);
      if (!reader.status().ok() || !parsed.ParseFromZeroCopyStream(&reader)) {
        connection_.OnMalformed(*stream_);
        return true;
      }
      ring = parsed.ring();
      if (!connection_.has_session() && parsed.has_hello()) {
        if (const absl::Status may = OnHello(parsed.hello()); !may.ok()) {
          EndStream(may);
          return false;
        }
        resumed = parsed.hello().has_resume();
      }
      connection_.OnMessage(stream_, parsed);
      return true;
    });
    if (!go_on) return;
    if (!admitted_ && connection_.has_session()) {
      admitted_ = true;
      const absl::Status room =
          quota_->Admit(resumed ? ReceiveQuota::How::kResumed : ReceiveQuota::How::kOpened);
      if (!room.ok()) return connection_.Refuse(*stream_, room);
    }
    if (ring) {
      const absl::Status turned = TurnToRing();
      // Without a kind it is not the client's fault: it resumes the session, without a ring.
      if (!turned.ok() && KindOf(turned) == ErrorKind::kNone) return EndStream(turned);
      if (!turned.ok()) return connection_.Refuse(*stream_, turned);
    }
    call_.Read();
  }

  // Returns an error when this Hello must not be handled.
  absl::Status OnHello(const v1::Hello& hello) {
    if (hello.checksums()) {
      if (!checksums_.seen()) return DataLoss("The Hello does not have its checksum.");
      stream_->AddChecksums();
    }
    return quota_->CheckAdmission();
  }

  // Calls `handle` with memory for a parsed message, and returns its result.
  bool Handle(absl::FunctionRef<bool(v1::ClientMessage&)> handle) {
    parsed_bytes = 0;
    bool result = true;
    try {
      result = handle(*google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&arena_));
    } catch (const std::bad_alloc&) {
      connection_.OnNoMemory(*stream_);
    }
    arena_.Reset();
    return result;
  }

  // The next message comes in the ring. Starts its thread at the first time.
  absl::Status TurnToRing() {
    MutexLock lock(&ring_mu_);
    if (over_) return absl::OkStatus();
    if (ring_thread_ == nullptr) {
      ring_ = connection_.TakeRing();
      if (ring_ == nullptr)
        return MakeError(ErrorKind::kViolation,
                         "A message says that the next comes in a ring, and the client has none.");
      const rpc::RingPair pair(ring_->memory.bytes());
      ASSIGN_OR_RETURN(ring_thread_, session::RingThread::Start(pair.to_daemon, *this));
      stream_->UseRing(pair.to_client,
                       [thread = ring_thread_.get()](const absl::Status& status) { thread->Break(status); });
      ++registry_.rings;
    }
    in_ring_ = true;
    ring_thread_->Read();
    return absl::OkStatus();
  }

  void OnRingMessage(const std::string& bytes) override {
    registry_.wire_bytes_in += static_cast<int64_t>(bytes.size());
    Handle([&](v1::ClientMessage& parsed) {
      if (parsed.ParseFromString(bytes)) {
        connection_.OnMessage(stream_, parsed);
      } else {
        connection_.OnMalformed(*stream_);
      }
      return true;
    });
  }

  void OnElsewhere() override {
    std::optional<grpc::ByteBuffer> held;
    bool reads_done;
    {
      MutexLock lock(&ring_mu_);
      in_ring_ = false;
      held.swap(held_);
      reads_done = reads_done_;
    }
    if (held.has_value()) {
      OnStreamMessage(*held);
    } else if (reads_done) {
      EndStream(absl::OkStatus());
    }
  }
  void OnRingPause() override {
    Resumably([this] {
      if (connection_.HasNews()) connection_.Flush();
    });
  }
  void OnRingBroken(const absl::Status& status) override {
    try {
      connection_.Refuse(*stream_,
                         absl::IsDataLoss(status) ? WithKind(status, ErrorKind::kViolation) : status);
    } catch (const std::exception& e) {  // The session waits for its client, or its lease.
      spdlog::error("A session could not be ended: {}", e.what());
      call_.Cancel();
    }
  }
  void OnRingEnd() override { EndStream(absl::OkStatus()); }

  void EndRing() {
    std::unique_ptr<session::RingThread> thread;
    {
      MutexLock lock(&ring_mu_);
      over_ = true;
      thread = std::move(ring_thread_);
    }
    if (thread == nullptr) return;
    stream_->DropRing();
    thread.reset();  // Waits for it without the lock, which it may take.
    ring_.reset();
    --registry_.rings;
  }

  // Runs a step that sends answers. When it finds no memory, nothing is lost: the stream ends without an
  // error of the session, so that the client resumes it on another one, and gets the answers again.
  void Resumably(absl::FunctionRef<void()> step) {
    try {
      step();
    } catch (const std::exception& e) {
      spdlog::error("Answers could not be sent: {}", e.what());
      EndStream(absl::ResourceExhaustedError("The daemon has no memory for its answers."));
    }
  }
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

  Mutex ring_mu_;
  bool in_ring_ ABSL_GUARDED_BY(ring_mu_) = false;  // True when the client's next message comes in the ring.
  bool reads_done_ ABSL_GUARDED_BY(ring_mu_) = false;
  bool over_ ABSL_GUARDED_BY(ring_mu_) = false;                     // True when the call is done.
  std::optional<grpc::ByteBuffer> held_ ABSL_GUARDED_BY(ring_mu_);  // Came while in_ring_.
  std::unique_ptr<session::RingMemory> ring_;  // Set before ring_thread_, and reset after it.
  std::unique_ptr<session::RingThread> ring_thread_ ABSL_GUARDED_BY(ring_mu_);  // Null without a ring.
};

}  // namespace

std::unique_ptr<CallHandler> MakeSessionHandler(session::Registry& registry, Call& call, session::Peer peer,
                                                std::shared_ptr<ReceiveQuota> quota) {
  return std::make_unique<SessionHandler>(registry, call, std::move(peer), std::move(quota));
}

}  // namespace hlod::grpc_server
