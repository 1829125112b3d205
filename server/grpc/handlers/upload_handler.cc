// Bulk.Upload over gRPC: chunks are read here, a few ahead of the transfer thread, which copies them into the
// buffer.
#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/grpc/chunk.h"
#include "server/grpc/handlers/bulk_handler.h"

namespace hlod::grpc_server {
namespace {

constexpr size_t kUploadChunksAhead = 4;
constexpr int64_t kHeaderBytesMax = 4096;  // The limit on a chunk's message besides its payload.

// Shared by the call's handler and the jobs of the transfer thread.
class UploadStream : public session::BulkStream, public std::enable_shared_from_this<UploadStream> {
 public:
  UploadStream(session::Registry& registry, std::shared_ptr<Call> call, std::shared_ptr<ReceiveQuota> quota)
      : registry_(registry), call_(std::move(call)), quota_(std::move(quota)) {}

  void OnStart() { ReadOn(); }

  void OnRead(grpc::ByteBuffer& buffer) {
    const int64_t bytes = static_cast<int64_t>(buffer.Length());
    registry_.wire_bytes_in += bytes;
    const int64_t chunk_max = registry_.devices().limits().chunk_bytes_max;
    ReceiveQuota::Turn turn;  // Released after the lock is released.
    if (bytes - kHeaderBytesMax > chunk_max) {
      // Runs on the transfer thread, which may still be copying chunks.
      return Post([self = shared_from_this(), bytes, chunk_max] {
        self->Fail(
            MakeError(ErrorKind::kLimit,
                      absl::StrFormat("A chunk's message of %d bytes; the limit chunk_bytes_max is %d.",
                                      bytes, chunk_max)));
      });
    }
    bool first;
    {
      MutexLock lock(&mu_);
      reading_ = false;
      turn.swap(turn_);
      if (ended_) return;
      first = !std::exchange(begun_, true);
      chunks_.push_back({std::move(buffer), std::move(turn)});
    }
    if (first && !Begin(bytes)) return;
    ReadOn();
    PostPump();
  }

  void Stop() override {
    End();
    call_->Cancel();
  }

  void OnReadsDone() {
    ReceiveQuota::Turn turn;  // Released after the lock is released.
    {
      MutexLock lock(&mu_);
      reads_done_ = true;
      turn.swap(turn_);
    }
    PostPump();
  }
  void OnWritten() {}
  void OnDone() { OnReadsDone(); }
  bool AwaitsTurn() const {
    MutexLock lock(&mu_);
    return reading_ && turn_ == nullptr && !reads_done_;
  }

 private:
  struct Chunk {
    grpc::ByteBuffer bytes;
    ReceiveQuota::Turn turn;
  };

  // Requests the next chunk, unless one is already requested or enough are waiting. For an upload that is not
  // declared yet, only the first chunk is kept.
  void ReadOn() {
    {
      MutexLock lock(&mu_);
      if (ended_ || reads_done_ || reading_ || (begun_ && !declared_.has_value()) ||
          chunks_.size() >= kUploadChunksAhead)
        return;
      reading_ = true;
    }
    quota_->AwaitTurn([self = shared_from_this()](ReceiveQuota::Turn turn) {
      {
        MutexLock lock(&self->mu_);
        if (self->ended_ || self->reads_done_) return;
        self->turn_ = std::move(turn);
      }
      self->call_->Read();
    });
  }

  // Returns false if it had ended before.
  bool End() {
    std::deque<Chunk> dropped;  // Their turns are released after the lock is released.
    ReceiveQuota::Turn turn;
    MutexLock lock(&mu_);
    dropped.swap(chunks_);
    turn.swap(turn_);
    return !std::exchange(ended_, true);
  }

  // Handles the first chunk, which names the transfer; its upload may not be declared yet.
  bool Begin(int64_t bytes) {
    absl::StatusOr<v1::TransferId> id = PeekTransfer();
    if (id.ok()) {
      absl::StatusOr<std::shared_ptr<session::Session>> session =
          registry_.Authenticate(id->session(), id->secret());
      if (session.ok()) {
        absl::Status added = quota_->Admit();
        if (added.ok()) added = (*session)->transfers().AddBulkStream(shared_from_this());
        if (!added.ok()) {
          Fail(added);
          return false;
        }
        if (const absl::Status staged =
                (*session)->budgets().staging.Reserve(bytes, "A chunk of an undeclared upload");
            !staged.ok()) {
          Fail(staged);
          return false;
        }
        session_ = *std::move(session);
        staged_bytes_ = bytes;
        command_ = id->command();
        session_->transfers().AwaitUpload(
            command_, [self = shared_from_this()](const absl::Status& declared) {
              {
                MutexLock lock(&self->mu_);
                self->declared_ = declared;
              }
              // Releasing once suffices, because AwaitUpload calls back once.
              self->session_->budgets().staging.Release(std::exchange(self->staged_bytes_, 0));
              self->PostPump();
            });
        return true;
      }
      id = session.status();
    }
    Fail(id.status());
    return false;
  }

  absl::StatusOr<v1::TransferId> PeekTransfer() {
    std::optional<v1::TransferId> seen;
    MutexLock lock(&mu_);
    const absl::StatusOr<rpc::ReceivedChunk> chunk =
        rpc::DecodeChunk(chunks_.front().bytes,
                         [&](const rpc::ReceivedChunk& header) -> absl::StatusOr<absl::Span<std::byte>> {
                           if (header.has_transfer) seen = header.transfer;
                           return Aborted("Only the head is read here.");
                         });
    if (chunk.ok() && chunk->has_transfer) seen = chunk->transfer;  // A chunk without data.
    if (seen.has_value()) return *seen;
    return MakeError(ErrorKind::kViolation, "The first chunk of a bulk upload does not name its transfer.");
  }

  // Runs a job on the transfer thread, in the session's turn. A call that has not named a session has no jobs
  // there and can only end.
  void Post(std::function<void()> job) {
    registry_.devices().transfers().Submit(session_ != nullptr ? session_->identity().id : 0, 0,
                                           std::move(job));
  }
  // Does nothing after the end: the session's jobs have been discarded, and a further one would keep the call
  // alive.
  void PostPump() {
    {
      MutexLock lock(&mu_);
      if (ended_) return;
    }
    Post([self = shared_from_this()] { Guarded(*self->call_, [&] { self->Pump(); }); });
  }

  void Fail(const absl::Status& status) {
    if (!End()) return;
    if (part_.has_value()) session_->session_device().uploads().AbortTransfer(command_, part_->generation);
    call_->Finish(status);
  }

  // Copies the waiting chunks, on the transfer thread.
  void Pump() {
    for (;;) {
      Chunk chunk;
      {
        MutexLock lock(&mu_);
        if (ended_) return;
        // Chunks are kept until the upload is declared, so that a client which has sent everything is not cut
        // off.
        if (chunks_.empty()) return EndIfCut();
        if (!declared_.has_value()) return;
        if (!declared_->ok()) break;
        chunk = std::move(chunks_.front());
        chunks_.pop_front();
      }
      const absl::Status status = Store(chunk.bytes);
      if (!status.ok()) return Fail(status);
      ReadOn();
    }
    absl::Status status;
    {
      MutexLock lock(&mu_);
      status = *declared_;
    }
    Fail(status);
  }

  // Fails the upload if the client stopped before the last byte.
  void EndIfCut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!reads_done_ || ended_ || cut_) return;
    cut_ = true;
    Post([self = shared_from_this()] {
      self->Fail(Aborted("The bulk stream ended after %d bytes of its upload.", self->received_));
    });
  }

  absl::Status Store(grpc::ByteBuffer& buffer) {
    device::SessionUploads& uploads = session_->session_device().uploads();
    if (!part_.has_value()) {
      ASSIGN_OR_RETURN(const device::UploadPart claimed, uploads.Claim(command_));
      part_ = Part{claimed.upload, claimed.generation};
    }
    // Referred to only while bytes are copied, because a stalled client must not keep the memory of a failed
    // upload.
    const std::shared_ptr<device::PendingUpload> upload = part_->upload.lock();
    if (upload == nullptr || !uploads.Owns({upload, part_->generation, upload->target}))
      return Aborted("The upload of command %d has ended or was taken over by another stream.", command_);
    ASSIGN_OR_RETURN(
        const rpc::ReceivedChunk chunk,
        rpc::DecodeChunk(
            buffer, [&](const rpc::ReceivedChunk& header) -> absl::StatusOr<absl::Span<std::byte>> {
              if (header.size > session_->limits().chunk_bytes_max) {
                return MakeError(ErrorKind::kLimit,
                                 absl::StrFormat("A chunk of %d bytes; the limit chunk_bytes_max is %d.",
                                                 header.size, session_->limits().chunk_bytes_max));
              }
              return upload->target.subspan(static_cast<size_t>(received_));
            }));
    received_ += chunk.size;
    uploads.AddReceived(command_, part_->generation, chunk.size);
    if (received_ < static_cast<int64_t>(upload->target.size())) return absl::OkStatus();
    {
      MutexLock lock(&mu_);
      ended_ = true;
    }
    v1::UploadDone done;
    done.set_bytes(static_cast<uint64_t>(received_));
    call_->Write(ToByteBuffer(done));
    call_->Finish(absl::OkStatus());
    return absl::OkStatus();
  }

  session::Registry& registry_;
  const std::shared_ptr<Call> call_;
  const std::shared_ptr<ReceiveQuota> quota_;
  // Set with the first chunk.
  std::shared_ptr<session::Session> session_;
  uint64_t command_ = 0;
  int64_t staged_bytes_ = 0;
  // Used by the transfer thread.
  struct Part {
    std::weak_ptr<device::PendingUpload> upload;
    uint64_t generation = 0;
  };
  std::optional<Part> part_;
  int64_t received_ = 0;

  mutable Mutex mu_;
  std::deque<Chunk> chunks_ ABSL_GUARDED_BY(mu_);
  bool reading_ ABSL_GUARDED_BY(mu_) = false;     // True when a chunk, or a turn for one, is requested.
  ReceiveQuota::Turn turn_ ABSL_GUARDED_BY(mu_);  // The turn of the chunk that is being read.
  bool begun_ ABSL_GUARDED_BY(mu_) = false;
  bool reads_done_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  bool cut_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> declared_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

std::unique_ptr<CallHandler> MakeUploadHandler(session::Registry& registry, Call& call,
                                               std::shared_ptr<ReceiveQuota> quota) {
  return std::make_unique<BulkHandler<UploadStream>>(registry, call, std::move(quota));
}

}  // namespace hlod::grpc_server
