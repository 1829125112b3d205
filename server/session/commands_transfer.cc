// Transfers: inline, announced for a bulk stream, or through the shared arena.
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/system/copy.h"
#include "common/hlo/proto/codec.h"
#include "server/session/commands.h"

namespace hlod::session {
namespace {

// The size above which copies run on the transfer thread, because the thread that reads the stream has others
// to read.
constexpr int64_t kCopyHereBytes = 256 << 10;

absl::Status Argument(std::string text) { return MakeError(ErrorKind::kArgument, std::move(text)); }

absl::StatusOr<Cause> CauseOf(int number, Direction direction) {
  const std::optional<Cause> cause = CauseFromNumber(number);
  if (!cause.has_value() || DirectionOf(*cause) != direction) {
    return Argument(absl::StrFormat("Cause %d is not one of the direction %s.", number, Name(direction)));
  }
  return *cause;
}

// Runs a copy, whose bytes are reserved (SessionBudgets::copies), on this thread or the transfer thread.
void Copy(Session& session, int64_t bytes, std::function<void()> copy) {
  if (bytes <= kCopyHereBytes) return copy();
  session.session_device().devices().transfers().Submit(session.identity().id, 0, std::move(copy));
}

// The way of a download's bytes to the client, once they are computed.
struct Delivery {
  void Deliver(absl::StatusOr<device::ReadyBytes> ready) const {
    if (!ready.ok()) return session->answers().Settle(id, ready.status());
    const device::RowKey row{ready->buffer->device, cause, command.origin, command.step};
    v1::Reply reply;
    reply.set_command(id);
    *reply.mutable_download()->mutable_shape() = hlo::ToProto(ready->shape);
    switch (way) {
      case v1::Download::kStream: return Announce(*std::move(ready), row, std::move(reply));
      case v1::Download::kInline: return Inline(*std::move(ready), row, std::move(reply));
      default: return ToArena(*std::move(ready), row, std::move(reply));
    }
  }

  std::shared_ptr<Session> session;
  uint64_t id;
  Cause cause;
  device::CommandRef command;
  v1::Download::WayCase way;
  v1::ArenaRange range;
  int64_t calls;

 private:
  void Announce(device::ReadyBytes ready, const device::RowKey& row, v1::Reply reply) const {
    if (const absl::Status kept = session->transfers().KeepDownload(id, std::move(ready), row, calls);
        !kept.ok()) {
      return session->answers().Settle(id, kept);
    }
    reply.mutable_download()->set_stream(true);
    session->answers().Answer(std::move(reply));
  }

  void Inline(device::ReadyBytes ready, const device::RowKey& row, v1::Reply reply) const {
    const bool prefetch = cause == Cause::kPrefetch;
    const Limits& limits = session->limits();
    const int64_t most = prefetch ? limits.prefetch_bytes_max : limits.inline_bytes_max;
    if (ready.bytes > most) {
      return Refuse(ready,
                    MakeError(ErrorKind::kLimit,
                              absl::StrFormat("%d bytes inside a reply; the limit %s is %d.", ready.bytes,
                                              prefetch ? "prefetch_bytes_max" : "inline_bytes_max", most)));
    }
    if (const absl::Status kept = session->budgets().replies.Check(ready.bytes, "A reply"); !kept.ok())
      return Refuse(ready, kept);
    reply.mutable_download()->set_inline_(ready.data, static_cast<size_t>(ready.bytes));
    session->session_device().Release(ready);
    device::SessionLedger& ledger = session->session_device().ledger();
    if (prefetch) {
      ledger.RecordPrefetch(id, row, ready.bytes);
    } else {
      ledger.Record(row, ready.bytes, calls);
    }
    // Drops the buffer before the answer, so that the buffer is no longer held when a Free follows.
    ready = {};
    session->answers().Answer(std::move(reply));
  }

  void ToArena(device::ReadyBytes ready, const device::RowKey& row, v1::Reply reply) const {
    const absl::StatusOr<absl::Span<std::byte>> arena = session->transfers().arena();
    if (!arena.ok()) return Refuse(ready, arena.status());
    if (!InRange(range.offset(), range.length(), arena->size()) ||
        range.length() < static_cast<uint64_t>(ready.bytes)) {
      return Refuse(
          ready, Argument(absl::StrFormat("%d bytes do not fit into the range of %d at %d of an arena of %d.",
                                          ready.bytes, range.length(), range.offset(), arena->size())));
    }
    if (const absl::Status reserved = session->budgets().copies.Reserve(ready.bytes, "A copy");
        !reserved.ok()) {
      return Refuse(ready, reserved);
    }
    reply.mutable_download()->set_arena(true);
    const int64_t bytes = ready.bytes;
    Copy(*session, bytes,
         [self = session, to = arena->data() + range.offset(), ready = std::move(ready), row, calls = calls,
          reply = std::move(reply)]() mutable {
           CopyBytes(to, ready.data, static_cast<size_t>(ready.bytes));
           self->budgets().copies.Release(ready.bytes);
           self->session_device().Release(ready);
           self->session_device().ledger().Record(row, ready.bytes, calls);
           ready = {};
           self->answers().Answer(std::move(reply));
         });
  }

  void Refuse(const device::ReadyBytes& ready, const absl::Status& status) const {
    session->session_device().Release(ready);
    session->answers().Settle(id, status);
  }
};

}  // namespace

device::Violation HandleUpload(Session& session, const v1::Command& command, const absl::Status& refused) {
  const v1::Upload& message = command.upload();
  device::UploadRequest request;
  request.command = RefOf(session, command);
  request.handle = message.handle();
  request.device = message.device();
  request.refused = refused;
  request.shape = ShapeOf(message.shape(), request.refused);
  request.bytes = message.bytes();
  request.fill = message.fill();
  request.pieces = message.payload_case() == v1::Upload::kArena;
  const absl::StatusOr<Cause> cause = CauseOf(message.cause(), Direction::kHostToDevice);
  request.refused.Update(cause.status());
  request.cause = cause.value_or(Cause::kUpload);
  if (message.payload_case() == v1::Upload::kInline) {
    request.data = message.inline_();
    const auto bytes = static_cast<int64_t>(message.inline_().size());
    if (request.refused.ok() && bytes > session.limits().inline_bytes_max) {
      request.refused = MakeError(
          ErrorKind::kLimit, absl::StrFormat("%d bytes inside an Upload; the limit inline_bytes_max is %d.",
                                             bytes, session.limits().inline_bytes_max));
    }
  } else if (request.refused.ok() && message.payload_case() == v1::Upload::PAYLOAD_NOT_SET &&
             message.bytes() > 0) {
    request.refused = Argument("The Upload does not say how its bytes come.");
  }
  return session.session_device().Upload(request, session.Settler(command.id()));
}

device::Violation HandleUploadPiece(Session& session, const v1::Command& command) {
  const v1::UploadPiece& request = command.upload_piece();
  const uint64_t id = command.id();
  const auto piece = [&]() -> absl::StatusOr<std::pair<device::UploadPart, const std::byte*>> {
    if (request.length() > static_cast<uint64_t>(session.limits().chunk_bytes_max)) {
      return MakeError(ErrorKind::kLimit,
                       absl::StrFormat("A piece of %d bytes; the limit chunk_bytes_max is %d.",
                                       request.length(), session.limits().chunk_bytes_max));
    }
    ASSIGN_OR_RETURN(const absl::Span<std::byte> arena, session.transfers().arena());
    if (!InRange(request.arena_offset(), request.length(), arena.size())) {
      return Argument(absl::StrFormat("A piece of %d bytes at %d of an arena of %d.", request.length(),
                                      request.arena_offset(), arena.size()));
    }
    const auto bytes = static_cast<int64_t>(request.length());
    RETURN_IF_ERROR(session.budgets().copies.Reserve(bytes, "A copy"));
    absl::StatusOr<device::UploadPart> part = session.session_device().uploads().NextPiece(
        request.upload(), request.buffer_offset(), request.length());
    if (!part.ok()) {
      session.budgets().copies.Release(bytes);
      return part.status();
    }
    return std::make_pair(*std::move(part),
                          static_cast<const std::byte*>(arena.data() + request.arena_offset()));
  }();
  if (!piece.ok()) {
    session.answers().Settle(id, piece.status());
    return device::Violation();
  }
  Copy(session, static_cast<int64_t>(request.length()),
       [self = session.shared_from_this(), part = piece->first, from = piece->second,
        upload = request.upload(), id] {
         CopyBytes(part.target.data(), from, part.target.size());
         self->budgets().copies.Release(static_cast<int64_t>(part.target.size()));
         self->session_device().uploads().AddReceived(upload, part.generation,
                                                      static_cast<int64_t>(part.target.size()));
         // Answered by a reply: its Upload is older and not settled, so progress alone would never report it.
         v1::Reply reply;
         reply.set_command(id);
         self->answers().Answer(std::move(reply));
       });
  return device::Violation();
}

device::Violation HandleDownload(Session& session, const v1::Command& command) {
  const v1::Download& request = command.download();
  const absl::StatusOr<Cause> cause = CauseOf(request.cause(), Direction::kDeviceToHost);
  if (!cause.ok() || request.way_case() == v1::Download::WAY_NOT_SET) {
    session.answers().Settle(command.id(), !cause.ok()
                                               ? cause.status()
                                               : Argument("The Download does not say where its bytes go."));
    return device::Violation();
  }
  if (*cause == Cause::kPrefetch && request.way_case() != v1::Download::kInline) {
    session.answers().Settle(command.id(), Argument("A Download with the cause prefetch is not inline."));
    return device::Violation();
  }
  device::DownloadRequest download;
  download.command = RefOf(session, command);
  download.handle = request.handle();
  download.offset = request.offset();
  download.length = request.length();
  download.pin = request.way_case() == v1::Download::kStream;
  const Delivery delivery{.session = session.shared_from_this(),
                          .id = command.id(),
                          .cause = *cause,
                          .command = download.command,
                          .way = request.way_case(),
                          .range = request.arena(),
                          .calls = request.continued() ? 0 : 1};
  return session.session_device().Download(
      download, [delivery](absl::StatusOr<device::ReadyBytes> ready) { delivery.Deliver(std::move(ready)); });
}

device::Violation HandleReadPrefetched(Session& session, const v1::Command& command) {
  const v1::ReadPrefetched& request = command.read_prefetched();
  absl::StatusOr<Cause> cause = CauseOf(request.cause(), Direction::kDeviceToHost);
  if (cause.ok() && *cause == Cause::kPrefetch) cause = Argument("A read has the cause prefetch.");
  if (cause.ok()) {
    const device::CommandRef read = RefOf(session, command);
    session.session_device().ledger().RecordRead(request.download(), {0, *cause, read.origin, read.step});
  }
  session.answers().Settle(command.id(), cause.status());
  return device::Violation();
}

}  // namespace hlod::session
