// Sending, waiting and settling. Recovery from a broken connection is in session_recovery.cc.
#include "client/runtime/session/session.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/observe/warnings.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/background_closer.h"
#include "client/runtime/session/command_log_writer.h"
#include "client/runtime/transfer/arena.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/rpc/wire.h"
#include "hlod/tensor/tensor_name.h"

namespace hlod::internal {
namespace {

constexpr int64_t kLogBytesMax = 64 << 20;            // The maximum size of commands kept for a replay.
// The bytes of unacknowledged replies above which an acknowledgement is sent at once.
constexpr int64_t kUnacknowledgedBytesMax = 1 << 20;
// The maximum length of the log, in units of limit commands_in_flight_max; the daemon accepts twice that.
constexpr int64_t kWindow = 8;
constexpr size_t kHandlesPerFree = 32 << 10;
// The number of dropped handles above which they do not wait for another command.
constexpr size_t kDroppedMax = 1024;
constexpr int kSendsPerDrain = 16;  // A sender that does not wait polls for answers once in this many sends.
// The number of messages after a wait for progress that request progress in advance, because another wait is
// likely.
constexpr int kLoudMessages = 8;
constexpr size_t kLazyBytes = 16 << 10;  // The maximum size of lazy commands that wait for another one.

// Returns true when the command is answered by a Reply in case of success, too.
bool HasReply(const v1::Command& command) {
  switch (command.body_case()) {
    case v1::Command::kUploadPiece:
    case v1::Command::kDownload:
    case v1::Command::kPing:
    case v1::Command::kStats: return true;
    case v1::Command::kCompile: return command.compile().describe();
    default: return false;
  }
}

}  // namespace

absl::Status SessionIsClosed() {
  // Not UNAVAILABLE, the usual code of this kind, because trying again does not help.
  return ToStatus({.code = absl::StatusCode::kFailedPrecondition,
                   .kind = ErrorKind::kLostSession,
                   .text = "The session is closed."});
}

Session::Session(std::unique_ptr<Connector> connector, const SessionOptions& options)
    : connector_(std::move(connector)), options_(options) {}

Session::~Session() {
  const EndOfCommandLog end(this);
  if (InForkedChild()) {
    // Leaked: releasing gRPC's state of the connection takes threads that only the parent has.
    new std::shared_ptr<Pipe>(ABSL_TS_UNCHECKED_READ(pipe_));
    connector_.release();
    return;
  }
  if (connector_->may_stall()) StopBeating();
  absl::MutexLock lock(&mu_);
  if (!lost_.ok() || ended_ || pipe_ == nullptr) return;
  if (!goodbye_) {
    v1::Command command;
    command.mutable_goodbye();
    AddCommand(std::move(command), 0);
    goodbye_ = true;
    StartWrites();
  }
  if (options_.closer == nullptr) {
    pipe_->Cancel();
    return;
  }
  std::deque<MessageParts> rest;
  while (!outbox_.empty()) rest.push_back(NextMessage());
  options_.closer->Close(std::move(pipe_), std::move(rest), writing_);
}

// --------------------------------------------------------------------------------------------- sending

uint64_t Session::Sender::NewHandle() ABSL_NO_THREAD_SAFETY_ANALYSIS { return session_.next_handle_++; }

Command Session::Sender::Add(v1::Command&& command) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return session_.AddCommand(std::move(command), origin_);
}

void Session::Sender::HoldAcknowledgement(uint64_t command) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  session_.held_.insert(command);
}

uint32_t Session::Sender::OriginOf(const Caller& caller) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return session_.InternLocked(caller);
}

Command Session::AddCommand(v1::Command&& command, uint32_t origin) {
  Command state = std::make_shared<CommandState>();
  state->id = next_command_++;
  state->origin = origin;
  state->has_reply = HasReply(command);
  command.set_id(state->id);
  command.set_origin(origin);
  if (CommandLogWriter::any()) CommandLogWriter::Record(this, command);
  const bool piece = command.has_upload_piece() || command.has_program_chunk();
  std::shared_ptr<const std::string> bytes = outbox_.Encode(command);
  log_bytes_ += static_cast<int64_t>(bytes->size());
  ++unsettled_;
  pieces_ += piece;
  log_.push_back({bytes, state, piece});
  outbox_.AddCommand(std::move(bytes));
  return state;
}

MessageParts Session::NextMessage() {
  v1::ClientMessage message;
  ack_sent_ = AckThrough();
  unacknowledged_bytes_ = 0;
  message.set_ack_through(ack_sent_);
  answered_beyond_.erase(answered_beyond_.begin(), answered_beyond_.upper_bound(ack_sent_));
  for (auto it = answered_beyond_.begin(); it != answered_beyond_.end();) {
    if (held_.contains(*it)) {
      ++it;
    } else {
      message.add_acknowledged(*it);
      it = answered_beyond_.erase(it);
    }
  }
  told_idle_ = waiting_ == 0 && progress_requests_ == 0;
  if (progress_requests_ > 0) --progress_requests_;
  message.set_quiet(told_idle_);
  return outbox_.Next(std::move(message));
}

uint64_t Session::AckThrough() const {
  return held_.empty() ? settled_through_ : std::min(settled_through_, *held_.begin() - 1);
}

bool Session::MayAcknowledge() const {
  return AckThrough() > ack_sent_ || std::any_of(answered_beyond_.begin(), answered_beyond_.end(),
                                                 [this](uint64_t command) ABSL_NO_THREAD_SAFETY_ANALYSIS {
                                                   return !held_.contains(command);
                                                 });
}

void Session::MarkDone(LogEntry& entry) {
  if (entry.command->done.load(std::memory_order_relaxed)) return;
  log_bytes_ -= static_cast<int64_t>(entry.bytes->size());
  entry.bytes.reset();
  --unsettled_;
  cancels_.erase(entry.command->id);
  if (const auto found = donated_.find(entry.command->id); found != donated_.end()) {
    if (!entry.command->status.ok()) {
      for (const Dropped& dropped : found->second) NoteDropped(dropped);
    }
    donated_.erase(found);
  }
  backoff_ = absl::ZeroDuration();
  mishaps_ = 0;
  entry.command->done.store(true, std::memory_order_release);
}

Session::LogEntry* Session::FindInLog(uint64_t command) {
  const uint64_t first = next_command_ - log_.size();  // The id of the oldest unsettled command.
  return command < first || command >= next_command_ ? nullptr : &log_[command - first];
}

uint32_t Session::InternLocked(const Caller& caller) {
  if (caller.file == nullptr || *caller.file == '\0') return 0;
  const std::string_view function = caller.function == nullptr ? "" : caller.function;
  const std::string_view name = TensorName::Current();
  const auto found =
      origin_ids_.find(std::make_tuple(std::string_view(caller.file), caller.line, function, name));
  if (found != origin_ids_.end()) return found->second;
  if (static_cast<int64_t>(origins_.size()) >= limits_.origins_per_session_max) return 0;
  const Origin& origin = origins_.emplace_back(Origin{caller.file, caller.line, std::string(function)});
  const std::string& named = names_.emplace_back(name);
  const uint32_t id = static_cast<uint32_t>(origins_.size());
  origin_ids_.emplace(std::make_tuple(std::string_view(origin.file), origin.line,
                                      std::string_view(origin.function), std::string_view(named)),
                      id);
  v1::Command command;
  command.mutable_define_origin()->set_id(id);
  *command.mutable_define_origin()->mutable_origin() = rpc::ToProto(origin);
  if (!named.empty()) command.mutable_define_origin()->mutable_origin()->set_name(ValidUtf8(named));
  AddCommand(std::move(command), id);
  return id;
}

absl::Status Session::Transact(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait) {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(Add(caller, body, may_wait));
  Push(may_wait ? absl::InfiniteFuture() : absl::InfinitePast());
  return lost_;
}

absl::Status Session::TransactLazily(const Caller& caller, absl::FunctionRef<void(Sender&)> body) {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(Add(caller, body, /*may_wait=*/true));
  if (outbox_.command_bytes() >= kLazyBytes) Push(absl::InfiniteFuture());
  return lost_;
}

absl::Status Session::Add(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait) {
  if (!HasRoom()) {
    if (!may_wait) return ResourceExhausted("As many commands are under way as may be.");
    WaitUntil([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return HasRoom(); }, absl::InfiniteFuture());
  }
  if (!lost_.ok()) return lost_;
  if (goodbye_) return SessionIsClosed();
  AddDropped();  // Done first, because the new commands may need that memory.
  Sender sender(*this, InternLocked(caller));
  body(sender);
  return absl::OkStatus();
}

absl::StatusOr<Command> Session::Send(const Caller& caller, v1::Command&& command) {
  Command sent;
  RETURN_IF_ERROR(Transact(caller, [&](Sender& sender) { sent = sender.Add(std::move(command)); }));
  return sent;
}

bool Session::HasRoom() const {
  return unsettled_ * 2 < limits_.commands_in_flight_max && log_bytes_ < kLogBytesMax &&
         static_cast<int64_t>(log_.size()) - pieces_ < kWindow * limits_.commands_in_flight_max;
}

void Session::Cancel(uint64_t command) {
  if (InForkedChild()) return;
  absl::MutexLock lock(&mu_);
  const LogEntry* const entry = FindInLog(command);
  if (!lost_.ok() || goodbye_ || entry == nullptr || entry->command->done.load(std::memory_order_relaxed))
    return;
  if (!cancels_.insert(command).second) return;
  outbox_.AddCancel(command);
  Push(absl::InfiniteFuture());
}

void Session::Drop(uint64_t handle, int64_t bytes, const Command& donor) {
  if (InForkedChild()) return;
  if (options_.abstract != nullptr) options_.abstract->Dropped(handle);
  absl::MutexLock lock(&mu_);
  if (!lost_.ok() || goodbye_) return;
  if (donor != nullptr && !donor->done.load(std::memory_order_acquire)) {
    donated_[donor->id].push_back({handle, bytes});
    return;
  }
  if (donor != nullptr && donor->status.ok()) return;
  NoteDropped({handle, bytes});
  if (!MustFree()) return;
  StartWrites();
  while (MustFree() && PollOnce(absl::InfinitePast())) {
  }
}

void Session::NoteDropped(const Dropped& dropped) {
  dropped_.push_back(dropped.handle);
  dropped_bytes_ += dropped.bytes;
}

bool Session::MustFree() const {
  return dropped_.size() >= kDroppedMax || dropped_bytes_ >= kDroppedBytesMax;
}

void Session::AddDropped() {
  if (dropped_.empty() || goodbye_ || !HasRoom()) return;
  const size_t kept = dropped_.size() - std::min(dropped_.size(), kHandlesPerFree);
  v1::Command command;
  command.mutable_free()->mutable_handles()->Add(dropped_.begin() + static_cast<ptrdiff_t>(kept),
                                                 dropped_.end());
  dropped_.resize(kept);
  if (kept == 0) dropped_bytes_ = 0;
  AddCommand(std::move(command), 0);
}

void Session::StartWrites() {
  while (!writing_ && connected_) {
    if (outbox_.empty() && MustFree()) AddDropped();
    if (outbox_.empty()) return;
    writing_ = true;
    MessageParts message = NextMessage();
    if (!Fits(message)) return;
    const std::shared_ptr<Pipe> pipe = pipe_;
    mu_.Unlock();
    pipe->StartWrite(std::move(message));
    mu_.Lock();
  }
}

void Session::Push(absl::Time deadline) {
  for (;;) {
    StartWrites();
    if (polling_ || !connected_) return;  // The polling or recovering thread sends the rest.
    if (outbox_.empty()) {
      if (++sends_since_drain_ < kSendsPerDrain) return;
      sends_since_drain_ = 0;
      while (PollOnce(absl::InfinitePast())) {
      }
      if (outbox_.empty()) return;
      continue;
    }
    if (!PollOnce(deadline) && absl::Now() >= deadline) return;
  }
}

// --------------------------------------------------------------------------------------------- waiting

bool Session::PollOnce(absl::Time deadline) {
  if (polling_ || !connected_) return false;
  polling_ = true;
  const std::shared_ptr<Pipe> pipe = pipe_;
  const absl::Time question = NextQuestion();
  mu_.Unlock();
  PipeEvent event = pipe->Poll(std::min(deadline, question));
  mu_.Lock();
  if (question < absl::InfiniteFuture()) polled_ = absl::Now();
  if (event.kind != PipeEvent::Kind::kNothing) {
    heard_ = polled_;
    // A finished write may have reached only the kernel, so it does not count as an answer; but as long as
    // writes finish, an answer may still be queued behind them.
    asked_ =
        asked_.has_value() && event.kind == PipeEvent::Kind::kWritten ? std::optional(polled_) : std::nullopt;
  } else if (polled_ >= question) {
    AskOrBreak();
  }
  switch (event.kind) {
    case PipeEvent::Kind::kNothing: break;
    case PipeEvent::Kind::kWritten:
      writing_ = false;
      StartWrites();
      break;
    case PipeEvent::Kind::kRead:
      HandleMessage(event.message);
      StartWrites();  // There may be room now for freeing the dropped handles.
      break;
    case PipeEvent::Kind::kEnded: HandleEnd(event.status); break;
  }
  polling_ = false;
  changed_.SignalAll();
  return event.kind != PipeEvent::Kind::kNothing;
}

absl::Time Session::NextQuestion() {
  if (!connector_->may_stall()) return absl::InfiniteFuture();
  const absl::Time now = absl::Now();
  // Messages that came while no thread polled have not been seen, so that time was not silence.
  if (now - polled_ > options_.question) {
    heard_ = now;
    if (asked_.has_value()) asked_ = now;
  }
  return asked_.has_value() ? *asked_ + options_.silence : heard_ + options_.question;
}

void Session::AskOrBreak() {
  if (asked_.has_value()) {
    asked_.reset();
    pipe_->Cancel();  // The pipe ends, and HandleEnd starts the recovery.
    return;
  }
  asked_ = polled_;
  // No command may follow a goodbye; the stream's end is the answer then.
  if (goodbye_) return;
  v1::Command ping;
  ping.mutable_ping()->set_at_once(true);
  AddCommand(std::move(ping), 0);
  StartWrites();
}

void Session::AskForProgress() {
  progress_requests_ = kLoudMessages;
  if (told_idle_ && unsettled_ > 0 && !goodbye_ && outbox_.empty()) outbox_.AddHeader();
}

bool Session::WaitUntil(absl::FunctionRef<bool()> done, absl::Time deadline, bool progress) {
  if (progress) {
    ++waiting_;
    AskForProgress();
  }
  bool fulfilled;
  while (!(fulfilled = done()) && lost_.ok() && !ended_) {
    StartWrites();
    if (done()) continue;
    if (!polling_ && connected_) {
      if (!PollOnce(deadline) && absl::Now() >= deadline) break;
    } else if (changed_.WaitWithDeadline(&mu_, deadline) && absl::Now() >= deadline) {
      break;
    }
  }
  if (progress) --waiting_;
  if (!outbox_.empty() && connected_) Push(deadline);
  return fulfilled || done();
}

absl::Status Session::Wait(const CommandState& command, absl::Time deadline) {
  RETURN_IF_ERROR(CheckProcess());
  if (!command.done.load(std::memory_order_acquire)) {
    absl::MutexLock lock(&mu_);
    const auto done = [&] { return command.done.load(std::memory_order_acquire); };
    if (!WaitUntil(done, deadline, /*progress=*/!command.has_reply)) {
      if (!lost_.ok()) return lost_;
      return DeadlineExceeded("Command %d was not done in time.", command.id);
    }
  }
  return command.status;
}

absl::Status Session::WaitAny(absl::Span<const Command> commands) {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  const auto done = [&] {
    return std::any_of(commands.begin(), commands.end(),
                       [](const Command& command) { return command->done.load(std::memory_order_acquire); });
  };
  const bool replies = std::all_of(commands.begin(), commands.end(),
                                   [](const Command& command) { return command->has_reply; });
  WaitUntil(done, absl::InfiniteFuture(), /*progress=*/!replies);
  return lost_;
}

absl::Status Session::WaitFor(absl::FunctionRef<bool()> done) {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  if (WaitUntil(done, absl::InfiniteFuture())) return absl::OkStatus();
  return lost_.ok() ? SessionIsClosed() : lost_;
}

void Session::Drain() {
  if (InForkedChild()) return;
  absl::MutexLock lock(&mu_);
  StartWrites();
  while (PollOnce(absl::InfinitePast())) {
  }
  AskForProgress();                                  // Makes the next call find the progress.
  if (!outbox_.empty()) Push(absl::InfinitePast());  // The commands that a new connection has to replay.
}

void Session::Beat() {
  absl::MutexLock lock(&mu_);
  while (PollOnce(absl::InfinitePast())) {
  }
}

void Session::HandleMessage(v1::ServerMessage& message) {
  for (v1::Reply& reply : *message.mutable_replies()) {
    LogEntry* const entry = FindInLog(reply.command());
    if (entry == nullptr) continue;  // The daemon has repeated a reply that the client has.
    answered_beyond_.insert(reply.command());
    CommandState& command = *entry->command;
    if (command.done.load(std::memory_order_relaxed)) continue;
    unacknowledged_bytes_ += reply.ByteSizeLong();
    if (reply.has_error()) command.status = ToStatus(rpc::FromProto(reply.error()));
    if (reply.has_error() && options_.abstract != nullptr) options_.abstract->Failed(reply.error());
    for (const std::string& step : reply.compile().slow_steps())
      Warn(absl::StrCat("slow, more than ten times as usual: ", step));
    command.reply.Swap(&reply);
    MarkDone(*entry);
  }
  for (const uint64_t command : message.settled()) {
    if (LogEntry* const entry = FindInLog(command); entry != nullptr) MarkDone(*entry);
  }
  if (message.settled_through() > settled_through_) {
    settled_through_ = std::min(message.settled_through(), next_command_ - 1);
    while (!log_.empty() && log_.front().command->id <= settled_through_) {
      MarkDone(log_.front());
      pieces_ -= log_.front().piece;
      log_.pop_front();
    }
    answered_beyond_.erase(answered_beyond_.begin(), answered_beyond_.upper_bound(AckThrough()));
  }
  if (unacknowledged_bytes_ > kUnacknowledgedBytesMax && outbox_.empty() && MayAcknowledge()) {
    outbox_.AddHeader();
    StartWrites();
  }
}

void Session::ReleaseAcknowledgement(uint64_t command) {
  if (InForkedChild()) return;
  absl::MutexLock lock(&mu_);
  if (held_.erase(command) == 0 || !lost_.ok() || goodbye_ || !MayAcknowledge()) return;
  outbox_.AddHeader();  // Carries the acknowledgement, so that the daemon releases the bytes.
  Push(absl::InfinitePast());
}

absl::Status Session::Close(absl::Time deadline) {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  if (!lost_.ok()) return lost_;
  if (!goodbye_) {
    v1::Command command;
    command.mutable_goodbye();
    AddCommand(std::move(command), 0);
    goodbye_ = true;
  }
  if (!WaitUntil([this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return ended_; }, deadline)) {
    if (!lost_.ok()) return lost_;
    return DeadlineExceeded("The daemon did not end the session in time.");
  }
  return absl::OkStatus();
}

// -------------------------------------------------------------------------------------------- the rest

absl::Status Session::status() {
  RETURN_IF_ERROR(CheckProcess());
  absl::MutexLock lock(&mu_);
  return lost_;
}

Origin Session::OriginOf(uint32_t id) {
  if (InForkedChild()) return {};
  absl::MutexLock lock(&mu_);
  return id == 0 || id > origins_.size() ? Origin{} : origins_[id - 1];
}

bool Session::Knows(const Digest& digest) {
  if (InForkedChild()) return false;
  absl::MutexLock lock(&mu_);
  return programs_.Knows(digest);
}

void Session::Remember(const Digest& digest, const Command& compile) {
  if (InForkedChild()) return;
  absl::MutexLock lock(&mu_);
  programs_.Remember(digest, compile);
}

v1::TransferId Session::TransferOf(uint64_t command) const {
  v1::TransferId transfer;
  transfer.set_session(session_id_);
  transfer.set_secret(secret_);
  transfer.set_command(command);
  return transfer;
}

Arena* Session::arena() {
  if (InForkedChild()) return nullptr;
  absl::MutexLock lock(&arena_mu_);
  if (!arena_tried_) {
    arena_tried_ = true;
    if (options_.shared_memory && connector_->local() && !arena_offer_.socket().empty()) {
      arena_ = Arena::Attach(arena_offer_, secret_);
    }
  }
  return arena_.get();
}

}  // namespace hlod::internal
