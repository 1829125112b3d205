// Receives commands in order, keeps their answers, and sends them.
#include "server/session/answers.h"

#include <exception>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"

namespace hlod::session {
namespace {

// The limit of ReplyBox::window, in units of commands_in_flight_max.
constexpr int64_t kWindow = 16;
// The number of settled commands that need not be reported while the client is quiet (session.proto).
constexpr uint64_t kUntoldMax = 64;
constexpr int64_t kMessageBytes = 1 << 20;  // The approximate size of replies in one message.
// The bytes per command in flight, beyond unacknowledged_bytes_max, for its small reply or its refusal.
constexpr int64_t kReplyReserveBytes = 1 << 10;
// The bytes of refusals that a session may leave unacknowledged while the memory of all sessions is used up.
constexpr int64_t kFullReserveBytes = 1 << 20;

// Returns the kind of a piece. Chunks of a program that are smaller than chunk_bytes_max count as commands,
// which limits their number.
ReplyBox::Piece PieceOf(const v1::Command& command, const Limits& limits) {
  if (command.has_upload_piece()) return ReplyBox::Piece::kOfUpload;
  const bool full = static_cast<int64_t>(command.program_chunk().data().size()) >= limits.chunk_bytes_max;
  return full ? ReplyBox::Piece::kOfProgram : ReplyBox::Piece::kNone;
}

}  // namespace

absl::Status ViolationError(std::string text) { return MakeError(ErrorKind::kViolation, std::move(text)); }

// -----------------------------------------------------------------------------------------------------------
// streams

absl::StatusOr<std::shared_ptr<SessionStream>> Answers::Attach(std::shared_ptr<SessionStream> stream,
                                                               const v1::Welcome& welcome) {
  std::shared_ptr<SessionStream> old;
  v1::ServerMessage message;
  *message.mutable_welcome() = welcome;
  {
    MutexLock lock(&mu_);
    if (ended_ || lease_ran_out_) return MakeError(ErrorKind::kLostSession, "The session has just ended.");
    box_.Rewind();  // It may find no memory: then the session has the stream that it had.
    old = std::exchange(stream_, stream);
    detached_since_.reset();
    writing_ = true;
    quiet_ = false;
    message.mutable_welcome()->set_received_through(box_.received_through());
  }
  try {
    if (stream->Write(message)) OnWritten(stream.get());
  } catch (...) {  // There was no memory. No other object knows of this stream, so none would report that it
                   // broke.
    Detach(stream.get(), clock_.Now());
    if (old != nullptr) old->Finish(Aborted("The session went on in another stream."));
    throw;
  }
  return old;
}

bool Answers::LivesOn(const SessionStream* stream) const {
  MutexLock lock(&mu_);
  return stream_.get() == stream;
}

bool Answers::Detach(const SessionStream* stream, absl::Time now) {
  std::shared_ptr<SessionStream> old;
  MutexLock lock(&mu_);
  if (stream_.get() != stream || ended_) return false;
  old = std::exchange(stream_, nullptr);
  writing_ = false;
  detached_since_ = now;
  return true;
}

bool Answers::LeaseRanOut(absl::Time now, absl::Duration grace) {
  MutexLock lock(&mu_);
  if (ended_ || !detached_since_.has_value() || *detached_since_ + grace > now) return false;
  lease_ran_out_ = true;
  return true;
}

bool Answers::connected() const {
  MutexLock lock(&mu_);
  return stream_ != nullptr;
}

bool Answers::uses_ring() const {
  std::shared_ptr<SessionStream> stream;
  {
    MutexLock lock(&mu_);
    stream = stream_;
  }
  return stream != nullptr && stream->uses_ring();
}

std::optional<absl::Time> Answers::detached_since() const {
  MutexLock lock(&mu_);
  return detached_since_;
}

bool Answers::End(std::shared_ptr<SessionStream>& stream) {
  std::list<Barrier> barriers;  // Needs no memory. Destroyed after the lock is released.
  MutexLock lock(&mu_);
  if (std::exchange(ended_, true)) return false;
  stream = std::exchange(stream_, nullptr);
  barriers.swap(barriers_);
  return true;
}

// Sends the remaining replies in messages of a size that a client accepts.
void Answers::Finish(SessionStream& stream, const absl::Status& status) {
  try {
    WriteRest(stream);
  } catch (const std::exception&) {  // There was no memory: the replies are lost, but the client gets the
                                     // end.
  }
  stream.Finish(status);
}

void Answers::WriteRest(SessionStream& stream) {
  for (bool more = true; more;) {
    v1::ServerMessage message;
    std::vector<std::shared_ptr<const v1::Reply>> keep;
    const absl::Cleanup detach = [&message] { ReplyBox::Detach(message); };
    {
      MutexLock lock(&mu_);
      if (!box_.has_news()) break;
      box_.Fill(message, kMessageBytes, keep);
      more = box_.has_replies();
    }
    stream.Write(message);
  }
}

// -----------------------------------------------------------------------------------------------------------
// arrivals

absl::StatusOr<bool> Answers::BeginMessage(const SessionStream* stream, const v1::ClientMessage& message) {
  MutexLock lock(&mu_);
  if (stream_.get() != stream || ended_) return false;
  reading_ = true;
  quiet_ = message.quiet();
  if (!box_.Acknowledge(message.ack_through())) {
    return ViolationError(absl::StrFormat("Command %d is acknowledged; only those up to %d are settled.",
                                          message.ack_through(), box_.settled_through()));
  }
  for (const uint64_t command : message.acknowledged()) {
    if (!box_.AcknowledgeOne(command))
      return ViolationError(absl::StrFormat("Command %d is acknowledged and not settled.", command));
  }
  return true;
}

void Answers::EndMessage(bool flush) {
  {
    MutexLock lock(&mu_);
    reading_ = false;
    if (!flush || !MustTell()) return;
  }
  Flush();
}

absl::StatusOr<Answers::Arrival> Answers::Receive(const v1::Command& command, absl::Status& refused) {
  MutexLock lock(&mu_);
  if (command.id() <= box_.received_through() && command.id() > 0) {
    ledger_.Count(&device::Counters::replayed_commands);
    return Arrival::kReplayed;
  }
  if (command.id() != box_.received_through() + 1) {
    return ViolationError(absl::StrFormat("Command id %d is not the one after the last (%d).", command.id(),
                                          box_.received_through()));
  }
  const int64_t max = limits_.commands_in_flight_max;
  const bool full = box_.in_flight() >= max || box_.window() >= kWindow * max;
  // Refusals are answers that are kept, too, so a client that does not stop sending is ended.
  if (box_.window() >= (kWindow + 1) * max) {
    return MakeError(ErrorKind::kLimit,
                     absl::StrFormat("%d commands came after one that is not settled, more than %d times "
                                     "the limit commands_in_flight_max (%d).",
                                     box_.window() - 1, kWindow, max));
  }
  const int64_t unacknowledged = budgets_.replies.used();
  if (unacknowledged > limits_.unacknowledged_bytes_max + max * kReplyReserveBytes) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%d bytes of replies are not acknowledged; the limit unacknowledged_bytes_max "
                        "is %d.",
                        unacknowledged, limits_.unacknowledged_bytes_max));
  }
  const absl::Status room = budgets_.commands.Check(SessionBudgets::kCommandBytes, "A command");
  if (!room.ok() && unacknowledged > kFullReserveBytes) return room;
  box_.Receive(PieceOf(command, limits_));
  refused = room;
  if (full) {
    refused = MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("This command is one too many: the limit commands_in_flight_max is %d.", max));
  }
  return Arrival::kNew;
}

bool Answers::busy() const {
  MutexLock lock(&mu_);
  return !ended_ && box_.in_flight() > 0;
}

// -----------------------------------------------------------------------------------------------------------
// answers

void Answers::Settle(uint64_t command, const absl::Status& status) {
  if (status.ok()) return SettleWith(command, nullptr);
  ledger_.Count(&device::Counters::failed_commands);
  ErrorDetails error = ErrorOf(status);
  if (error.root_command == 0) error.root_command = command;
  auto reply = std::make_shared<v1::Reply>();
  reply->set_command(command);
  *reply->mutable_error() = rpc::ToProto(error);
  SettleWith(command, std::move(reply));
}

void Answers::Answer(v1::Reply reply) {
  const uint64_t command = reply.command();
  SettleWith(command, std::make_shared<const v1::Reply>(std::move(reply)));
}

void Answers::SettleWith(uint64_t command, std::shared_ptr<const v1::Reply> reply) {
  bool pause;
  {
    MutexLock lock(&mu_);
    if (ended_) return;
    box_.Settle(command, std::move(reply));
    pause = !reading_;
  }
  RunBarriers();
  if (pause) Flush();  // Otherwise EndMessage sends the answers to all commands of a message together.
}

// A loop instead of recursion, because each barrier answers and so lets the next one run, and there may be
// thousands.
void Answers::RunBarriers() {
  for (;;) {
    std::function<void()> barrier;
    uint64_t command;
    {
      MutexLock lock(&mu_);
      if (running_barriers_ || barriers_.empty() || barriers_.front().command != box_.settled_through() + 1)
        return;
      running_barriers_ = true;
      command = barriers_.front().command;
      barrier = std::move(barriers_.front().run);
      barriers_.pop_front();
    }
    const absl::Cleanup ran = [this] {
      MutexLock lock(&mu_);
      running_barriers_ = false;
    };
    try {
      barrier();
    } catch (const std::exception& e) {
      Settle(command, ExceptionError("This command could not be answered", e));
    }
  }
}

void Answers::WhenAllBefore(uint64_t command, std::function<void()> barrier) {
  {
    MutexLock lock(&mu_);
    // A barrier that End() did not find would stay and keep its session alive. It is destroyed with the
    // caller's frame, after the lock is released.
    if (ended_) return;
    barriers_.push_back({command, std::move(barrier)});
  }
  RunBarriers();
}

void Answers::Flush() {
  while (FlushOnce()) {
  }
}

bool Answers::FlushOnce() {
  v1::ServerMessage message;
  std::vector<std::shared_ptr<const v1::Reply>> keep;
  const absl::Cleanup detach = [&message] { ReplyBox::Detach(message); };
  std::shared_ptr<SessionStream> stream;
  bool sent;
  try {
    {
      MutexLock lock(&mu_);
      if (writing_ || stream_ == nullptr || !MustTell()) return false;
      writing_ = true;
      stream = stream_;
      box_.Fill(message, kMessageBytes, keep);
    }
    sent = stream->Write(message);
  } catch (...) {  // There was no memory, and the message was not sent. The next message gets its content.
    MutexLock lock(&mu_);
    if (stream_ == stream) {  // A new stream gets everything again.
      writing_ = false;
      box_.PutBack(message);
    }
    throw;
  }
  if (!sent) return false;
  MutexLock lock(&mu_);
  if (stream_ != stream) return false;
  writing_ = false;
  return true;
}

bool Answers::HasNews() const {
  MutexLock lock(&mu_);
  return !writing_ && stream_ != nullptr && MustTell();
}

bool Answers::MustTell() const {
  return quiet_ ? box_.has_replies() || box_.untold() >= kUntoldMax : box_.has_news();
}

void Answers::OnWritten(const SessionStream* stream) {
  {
    MutexLock lock(&mu_);
    if (stream_.get() != stream) return;
    writing_ = false;
    // Progress alone waits until the reader's next pause, when Flush is called.
    if (!box_.has_replies()) return;
  }
  Flush();
}

}  // namespace hlod::session
