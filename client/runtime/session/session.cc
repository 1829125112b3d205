// Sending, and the end of a session. Waiting is in session_wait.cc, recovery from a broken connection in
// session_recovery.cc.
#include "client/runtime/session/session.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/connection/background_closer.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/command_log_writer.h"
#include "client/runtime/transfer/arena.h"
#include "common/base/errors/status.h"
#include "common/base/text/utf8.h"
#include "common/rpc/wire.h"
#include "hlod/tensor/tensor_name.h"

namespace hlod::runtime {
namespace {

constexpr int kSendsPerDrain = 16;  // A sender that does not wait polls for answers once in this many sends.
constexpr size_t kLazyBytes = 16 << 10;  // The maximum size of lazy commands that wait for another one.

// Returns true when the command is answered by a Reply in case of success, too.
bool HasReply(const v1::Command& command) {
  switch (command.body_case()) {
    case v1::Command::kUploadPiece:
    case v1::Command::kDownload:
    case v1::Command::kPing:
    case v1::Command::kStats: return true;
    case v1::Command::kCompile: return command.compile().describe();
    case v1::Command::kExecute: return command.execute().profile();
    default: return false;
  }
}

// Returns true for a command that the daemon does not count in its window: pieces of uploads, and chunks of
// programs that are as large as they may be.
bool IsPiece(const v1::Command& command, const Limits& limits) {
  return command.has_upload_piece() ||
         static_cast<int64_t>(command.program_chunk().data().size()) >= limits.chunk_bytes_max;
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
  if (owner_.IsThisOne() && place_.daemons != nullptr && options_.daemons == nullptr)
    place_.daemons->Release();
  if (!owner_.IsThisOne()) {
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

uint64_t Session::Sender::NewHandle() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  Daemons* daemons = session_.place_.daemons.get();
  return daemons != nullptr ? daemons->NewHandle() : session_.next_handle_++;
}

Command Session::Sender::Add(v1::Command&& command) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return session_.AddCommand(std::move(command), origin_);
}

void Session::Sender::HoldAcknowledgement(uint64_t command) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  session_.acknowledgements_.Hold(command);
}

uint32_t Session::Sender::OriginOf(const Caller& caller) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  return session_.InternLocked(caller);
}

Command Session::AddCommand(v1::Command&& command, uint32_t origin) {
  Command state = std::make_shared<CommandState>();
  state->id = log_.NextId();
  state->origin = origin;
  state->has_reply = HasReply(command);
  command.set_id(state->id);
  command.set_origin(origin);
  if (CommandLogWriter::any()) CommandLogWriter::Record(this, command);
  const bool piece = IsPiece(command, daemon_.limits);
  std::shared_ptr<const std::string> bytes = outbox_.Encode(command);
  log_.Append({bytes, state, piece});
  outbox_.AddCommand(std::move(bytes));
  return state;
}

MessageParts Session::NextMessage() {
  v1::ClientMessage message;
  acknowledgements_.AddTo(message);
  told_idle_ = waiting_ == 0 && progress_requests_ == 0;
  if (progress_requests_ > 0) --progress_requests_;
  message.set_quiet(told_idle_);
  return outbox_.Next(std::move(message));
}

void Session::MarkDone(ReplayLog::Entry& entry) {
  if (entry.command->done.load(std::memory_order_relaxed)) return;
  log_.Release(entry);
  cancels_.erase(entry.command->id);
  dropped_.CommandIsDone(entry.command->id, !entry.command->status.ok());
  backoff_ = absl::ZeroDuration();
  mishaps_ = 0;
  entry.command->done.store(true, std::memory_order_release);
  commands_done_.fetch_add(1, std::memory_order_release);
}

uint32_t Session::InternLocked(const Caller& caller) {
  if (caller.file == nullptr || *caller.file == '\0') return 0;
  const std::string_view function = caller.function == nullptr ? "" : caller.function;
  const std::string_view name = TensorName::Current();
  if (const uint32_t known = origins_.Find(caller.file, caller.line, function, name); known != 0)
    return known;
  if (origins_.size() >= daemon_.limits.origins_per_session_max) return 0;
  const Origin origin{caller.file, caller.line, std::string(function)};
  const uint32_t id = origins_.Add(origin, name);
  v1::Command command;
  command.mutable_define_origin()->set_id(id);
  *command.mutable_define_origin()->mutable_origin() = rpc::ToProto(origin);
  if (!name.empty()) command.mutable_define_origin()->mutable_origin()->set_name(ValidUtf8(name));
  AddCommand(std::move(command), id);
  return id;
}

absl::Status Session::Transact(const Caller& caller, absl::FunctionRef<void(Sender&)> body, bool may_wait) {
  RETURN_IF_ERROR(owner_.Check());
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(Add(caller, body, may_wait));
  Push(may_wait ? absl::InfiniteFuture() : absl::InfinitePast());
  return lost_;
}

absl::Status Session::TransactLazily(const Caller& caller, absl::FunctionRef<void(Sender&)> body,
                                     bool may_wait) {
  RETURN_IF_ERROR(owner_.Check());
  absl::MutexLock lock(&mu_);
  RETURN_IF_ERROR(Add(caller, body, may_wait));
  if (may_wait && outbox_.command_bytes() >= kLazyBytes) Push(absl::InfiniteFuture());
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

void Session::Cancel(uint64_t command) {
  if (!owner_.IsThisOne()) return;
  absl::MutexLock lock(&mu_);
  const ReplayLog::Entry* const entry = log_.Find(command);
  if (!lost_.ok() || goodbye_ || entry == nullptr || entry->command->done.load(std::memory_order_relaxed))
    return;
  if (!cancels_.insert(command).second) return;
  outbox_.AddCancel(command);
  Push(absl::InfiniteFuture());
}

void Session::Drop(uint64_t handle, int64_t bytes, const Command& donor) {
  if (!owner_.IsThisOne()) return;
  if (options_.abstract != nullptr) options_.abstract->Dropped(handle);
  absl::MutexLock lock(&mu_);
  if (!lost_.ok() || goodbye_) return;
  if (donor != nullptr && !donor->done.load(std::memory_order_acquire)) {
    dropped_.AddDonated(donor->id, handle, bytes);
    return;
  }
  if (donor != nullptr && donor->status.ok()) return;
  dropped_.Add(handle, bytes);
  if (!dropped_.MustFree()) return;
  StartWrites();
  while (dropped_.MustFree() && PollOnce(absl::InfinitePast())) {
  }
}

void Session::AddDropped() {
  if (dropped_.empty() || goodbye_ || !HasRoom()) return;
  const std::vector<uint64_t> handles = dropped_.Take();
  v1::Command command;
  command.mutable_free()->mutable_handles()->Add(handles.begin(), handles.end());
  AddCommand(std::move(command), 0);
}

void Session::StartWrites() {
  while (!writing_ && connected_) {
    if (outbox_.empty() && dropped_.MustFree()) AddDropped();
    if (outbox_.empty()) return;
    writing_ = true;
    MessageParts message = NextMessage();
    if (!Fits(message)) return;
    const std::shared_ptr<Pipe> pipe = pipe_;
    ++starting_;
    mu_.Unlock();
    const bool sent = pipe->StartWrite(std::move(message));
    mu_.Lock();
    // Another pipe has writes of its own.
    if (sent && pipe_ == pipe) writing_ = false;
    if (--starting_ == 0) started_.SignalAll();
  }
}

void Session::Push(absl::Time deadline) {
  for (;;) {
    StartWrites();
    // The thread there sends the rest if its write has ended when it returns: no event would say so.
    if (starting_ > 0) {
      if (started_.WaitWithDeadline(&mu_, deadline)) return;
      continue;
    }
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

void Session::ReleaseAcknowledgement(uint64_t command) {
  if (!owner_.IsThisOne()) return;
  absl::MutexLock lock(&mu_);
  if (!acknowledgements_.Release(command) || !lost_.ok() || goodbye_ || !acknowledgements_.HasNews()) return;
  outbox_.AddHeader();  // Carries the acknowledgement, so that the daemon releases the bytes.
  Push(absl::InfinitePast());
}

absl::Status Session::Close(absl::Time deadline) {
  RETURN_IF_ERROR(owner_.Check());
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

absl::Status Session::status() {
  RETURN_IF_ERROR(owner_.Check());
  absl::MutexLock lock(&mu_);
  return lost_;
}

Origin Session::OriginOf(uint32_t id) {
  if (!owner_.IsThisOne()) return {};
  absl::MutexLock lock(&mu_);
  return origins_.at(id);
}

v1::TransferId Session::TransferOf(uint64_t command) const {
  v1::TransferId transfer;
  transfer.set_session(id_);
  transfer.set_secret(secret_);
  transfer.set_command(command);
  return transfer;
}

Arena* Session::arena() {
  if (!owner_.IsThisOne()) return nullptr;
  absl::MutexLock lock(&arena_mu_);
  if (!arena_tried_) {
    arena_tried_ = true;
    if (options_.shared_memory && connector_->local() && !daemon_.arena.socket().empty()) {
      arena_ = Arena::Attach(daemon_.arena, secret_);
    }
  }
  return arena_.get();
}

}  // namespace hlod::runtime
