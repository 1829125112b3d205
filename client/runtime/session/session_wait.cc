// Waiting: one thread polls and handles the messages that come, for itself and for all others that wait.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/runtime/observe/warnings.h"
#include "client/runtime/preflight/abstract_session.h"
#include "client/runtime/session/session.h"
#include "common/base/errors/status.h"
#include "common/rpc/wire.h"

namespace hlod::runtime {
namespace {

// The number of messages after a wait for progress that request progress in advance, because another wait is
// likely.
constexpr int kLoudMessages = 8;

}  // namespace

bool Session::PollOnce(absl::Time deadline) {
  if (polling_ || !connected_) return false;
  polling_ = true;
  const std::shared_ptr<Pipe> pipe = pipe_;
  const absl::Time question = NextQuestion();
  mu_.Unlock();
  PipeEvent event = pipe->Poll(std::min(deadline, question));
  mu_.Lock();
  if (question < absl::InfiniteFuture()) silence_.Polled(absl::Now());
  if (event.kind != PipeEvent::Kind::kNothing) {
    silence_.Heard(/*write_finished=*/event.kind == PipeEvent::Kind::kWritten);
  } else if (silence_.HasLastedUntil(question)) {
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
  return silence_.NextQuestion(absl::Now(), options_.question, options_.silence);
}

void Session::AskOrBreak() {
  if (!silence_.Ask()) {
    pipe_->Cancel();  // The pipe ends, and HandleEnd starts the recovery.
    return;
  }
  // No command may follow a goodbye; the stream's end is the answer then.
  if (!goodbye_) AskAtOnce();
}

void Session::AskAtOnce() {
  v1::Command ping;
  ping.mutable_ping()->set_at_once(true);
  AddCommand(std::move(ping), 0);
  StartWrites();
}

void Session::AskForProgress() {
  progress_requests_ = kLoudMessages;
  if (told_idle_ && log_.unsettled() > 0 && !goodbye_ && outbox_.empty()) outbox_.AddHeader();
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
  RETURN_IF_ERROR(owner_.Check());
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
  RETURN_IF_ERROR(owner_.Check());
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
  RETURN_IF_ERROR(owner_.Check());
  absl::MutexLock lock(&mu_);
  if (WaitUntil(done, absl::InfiniteFuture())) return absl::OkStatus();
  return lost_.ok() ? SessionIsClosed() : lost_;
}

void Session::Drain() {
  if (!owner_.IsThisOne()) return;
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

bool Session::Watch(int64_t connection, bool ask) {
  absl::MutexLock lock(&mu_);
  while (PollOnce(absl::InfinitePast())) {
  }
  if (!connected_ || connection != connection_.load(std::memory_order_relaxed)) return false;
  // Also if an earlier ping is not answered: the answer may have met the reset.
  if (ask && !goodbye_) AskAtOnce();
  return connected_;
}

void Session::HandleMessage(v1::ServerMessage& message) {
  for (v1::Reply& reply : *message.mutable_replies()) HandleReply(reply);
  for (const uint64_t command : message.settled()) {
    if (ReplayLog::Entry* const entry = log_.Find(command); entry != nullptr) MarkDone(*entry);
  }
  HandleSettledThrough(message.settled_through());
  if (acknowledgements_.IsUrgent() && outbox_.empty() && acknowledgements_.HasNews()) {
    outbox_.AddHeader();
    StartWrites();
  }
}

void Session::HandleReply(v1::Reply& reply) {
  ReplayLog::Entry* const entry = log_.Find(reply.command());
  if (entry == nullptr) return;  // The daemon has repeated a reply that the client has.
  acknowledgements_.Answered(reply.command());
  CommandState& command = *entry->command;
  if (command.done.load(std::memory_order_relaxed)) return;
  acknowledgements_.AddBytes(static_cast<int64_t>(reply.ByteSizeLong()));
  if (reply.has_error()) command.status = ToStatus(rpc::FromProto(reply.error()));
  if (reply.has_error() && options_.abstract != nullptr) options_.abstract->Failed(reply.error());
  for (const std::string& step : reply.compile().slow_steps())
    Warn(absl::StrCat("slow, more than ten times as usual: ", step));
  command.reply.Swap(&reply);
  MarkDone(*entry);
}

void Session::HandleSettledThrough(uint64_t command) {
  if (command <= acknowledgements_.settled_through()) return;
  const uint64_t through = std::min(command, log_.last_id());
  while (!log_.empty() && log_.front().command->id <= through) {
    MarkDone(log_.front());
    log_.PopFront();
  }
  acknowledgements_.set_settled_through(through);
}

}  // namespace hlod::runtime
