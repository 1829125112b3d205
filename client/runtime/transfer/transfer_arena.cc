// Transfers through shared memory. For an upload, this side copies in and the daemon copies out; for a
// download, the reverse. Both work in pieces, so that the two copies overlap.
#include <algorithm>
#include <deque>
#include <utility>

#include "client/runtime/transfer/transfer.h"
#include "common/base/errors/status.h"
#include "common/base/system/copy.h"

namespace hlod::runtime {
namespace {

constexpr int64_t kPieceBytes = 1 << 20;
// The number of pieces asked for and not yet copied out: enough to keep both sides copying.
constexpr size_t kPiecesAhead = 6;

int64_t PieceBytes(const Session& session) {
  return std::min(kPieceBytes, session.daemon().limits.chunk_bytes_max);
}

Command AddPiece(Session::Sender& sender, uint64_t upload, int64_t buffer_offset, int64_t arena_offset,
                 int64_t length) {
  v1::Command command;
  v1::UploadPiece& piece = *command.mutable_upload_piece();
  piece.set_upload(upload);
  piece.set_buffer_offset(static_cast<uint64_t>(buffer_offset));
  piece.set_arena_offset(static_cast<uint64_t>(arena_offset));
  piece.set_length(static_cast<uint64_t>(length));
  return sender.Add(std::move(command));
}

// Requests piece after piece, a few ahead, and copies each out when it has arrived.
class ArenaDownload : public PendingDownload {
 public:
  ArenaDownload(std::shared_ptr<Session> session, uint64_t handle, Cause cause, absl::Span<std::byte> out,
                const Caller& caller)
      : session_(std::move(session)),
        arena_(*session_->arena()),
        handle_(handle),
        cause_(cause),
        out_(out),
        caller_(caller) {
    status_ = Ask(/*may_wait=*/true);
  }
  ~ArenaDownload() override {
    for (Piece& piece : pieces_) arena_.GiveAfter(piece.range, {std::move(piece.command)});
  }

  // Handles the pieces that have arrived and requests more, so that a caller that only polls Ready, without
  // awaiting, reaches the end, too.
  bool Ready() override {
    if (instead_ != nullptr) return instead_->Ready();
    session_->Drain();
    while (status_.ok() && !pieces_.empty() &&
           pieces_.front().command->done.load(std::memory_order_acquire)) {
      TakeFront();
    }
    if (status_.ok()) status_ = Ask(/*may_wait=*/false);
    return !status_.ok() || copied_ == size();
  }

  absl::Status Await(absl::Time deadline) override {
    while (status_.ok() && copied_ < size()) {
      if (instead_ != nullptr) return instead_->Await(deadline);
      if (pieces_.empty()) {
        status_ = Ask(/*may_wait=*/true);
        continue;
      }
      const CommandState& front = *pieces_.front().command;
      const absl::Status waited = session_->Wait(front, deadline);
      // The piece may have arrived since Wait gave up: only the command's own result is final.
      if (!front.done.load(std::memory_order_acquire)) return waited;
      TakeFront();
    }
    return status_;
  }

 private:
  struct Piece {
    ArenaRange range;
    Command command;
  };
  int64_t size() const { return static_cast<int64_t>(out_.size()); }

  // Copies the first piece, which is done, out of the arena and asks for more.
  void TakeFront() {
    const Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    status_ = piece.command->status;
    if (status_.ok() && !piece.command->reply.download().arena()) {
      status_ = MakeError(ErrorKind::kCorrupt, "The daemon did not put the bytes where they were asked for.");
    }
    if (status_.ok()) {
      // The next piece is requested before this one is copied, so that the daemon copies meanwhile. If the
      // arena has no room for it, this piece's range will make some.
      status_ = Ask(/*may_wait=*/false);
      CopyBytes(out_.data() + copied_, arena_.at(piece.range).data(),
                static_cast<size_t>(piece.range.length));
      copied_ += piece.range.length;
    }
    arena_.Give(piece.range);
  }

  // Requests pieces until kPiecesAhead are in flight. With `may_wait` false it requests fewer instead of
  // waiting for room.
  absl::Status Ask(bool may_wait) {
    while (asked_ < size() && pieces_.size() < kPiecesAhead) {
      const int64_t length = std::min(PieceBytes(*session_), size() - asked_);
      std::optional<ArenaRange> range = arena_.TryTake(length);
      if (!range.has_value()) {
        if (!pieces_.empty() || !may_wait) break;  // Our own pieces will make room.
        ASSIGN_OR_RETURN(range, arena_.Take(*session_, length));
        if (!range.has_value()) {
          // The arena is full of staged uploads: the rest is sent on a stream, which needs no room.
          instead_ = DownloadOnStream(session_, handle_, cause_, out_, asked_, caller_);
          return absl::OkStatus();
        }
      }
      v1::Command command = MakeDownload(handle_, cause_);
      v1::Download& download = *command.mutable_download();
      download.mutable_arena()->set_offset(static_cast<uint64_t>(range->offset));
      download.mutable_arena()->set_length(static_cast<uint64_t>(length));
      download.set_offset(static_cast<uint64_t>(asked_));
      download.set_length(static_cast<uint64_t>(length));
      download.set_continued(asked_ > 0);
      Command sent;
      const absl::Status status = session_->Transact(
          caller_, [&](Session::Sender& sender) { sent = sender.Add(std::move(command)); }, may_wait);
      if (!status.ok()) {
        arena_.Give(*range);
        return !may_wait && absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
      }
      pieces_.push_back({*range, std::move(sent)});
      asked_ += length;
    }
    return absl::OkStatus();
  }

  const std::shared_ptr<Session> session_;
  Arena& arena_;
  const uint64_t handle_;
  const Cause cause_;
  const absl::Span<std::byte> out_;
  const Caller caller_;
  absl::Status status_;
  std::deque<Piece> pieces_;
  // The transfer of the rest on a stream, if the arena has no room; otherwise null.
  std::unique_ptr<PendingDownload> instead_;
  int64_t asked_ = 0, copied_ = 0;
};

class ArenaWay : public Transfer {
 public:
  absl::StatusOr<Command> Upload(Session& session, UploadRequest& request, absl::Span<const std::byte> bytes,
                                 const Caller& caller) override {
    Arena& arena = *session.arena();
    const int64_t size = static_cast<int64_t>(bytes.size());
    Command upload;
    for (int64_t sent = 0; sent < size;) {
      const int64_t length = std::min(PieceBytes(session), size - sent);
      ASSIGN_OR_RETURN(const std::optional<ArenaRange> range, arena.Take(session, length));
      if (!range.has_value()) {
        if (upload == nullptr) return StreamTransfer().Upload(session, request, bytes, caller);
        // A part was sent and the rest will not come, so the daemon must not wait for it. A placeholder that
        // was to be filled still belongs to its buffer.
        session.Cancel(upload->id);
        if (!request.declaration.fill()) session.Drop(request.handle, size);
        return MakeError(ErrorKind::kLimit,
                         "The shared arena is full of staged uploads that were never committed.");
      }
      CopyBytes(arena.at(*range).data(), bytes.data() + sent, static_cast<size_t>(length));
      Command piece;
      const absl::Status status = session.Transact(caller, [&](Session::Sender& sender) {
        if (upload == nullptr) upload = AddUpload(sender, request, [](v1::Upload& u) { u.set_arena(true); });
        piece = AddPiece(sender, upload->id, sent, range->offset, length);
      });
      if (!status.ok()) {
        arena.Give(*range);
        return status;
      }
      arena.GiveAfter(*range, {std::move(piece)});
      sent += length;
      // A refused upload needs no more bytes, because the daemon would refuse each piece.
      if (upload->done.load(std::memory_order_acquire) && !upload->status.ok()) break;
    }
    return upload;
  }

  std::unique_ptr<PendingDownload> Download(std::shared_ptr<Session> session, uint64_t handle, Cause cause,
                                            absl::Span<std::byte> out, const Caller& caller) override {
    return std::make_unique<ArenaDownload>(std::move(session), handle, cause, out, caller);
  }
};

}  // namespace

Transfer& ArenaTransfer() {
  static ArenaWay transfer;
  return transfer;
}

absl::StatusOr<Command> SendStaged(Session& session, UploadRequest& request, ArenaRange range,
                                   const Caller& caller) {
  Command upload;
  std::vector<Command> pieces;
  // One transaction per piece, because each may have to wait for room.
  for (int64_t offset = 0; offset < range.length;) {
    const int64_t length = std::min(session.daemon().limits.chunk_bytes_max, range.length - offset);
    const absl::Status sent = session.Transact(caller, [&](Session::Sender& sender) {
      if (upload == nullptr) upload = AddUpload(sender, request, [](v1::Upload& u) { u.set_arena(true); });
      pieces.push_back(AddPiece(sender, upload->id, offset, range.offset + offset, length));
    });
    // On an error the range still belongs to the caller. If the daemon may still read it, the session is
    // lost, and its arena with it.
    RETURN_IF_ERROR(sent);
    offset += length;
  }
  session.arena()->GiveAfter(range, std::move(pieces));
  return upload;
}

}  // namespace hlod::runtime
