// Executes whose participants run on several daemons.
//
// When its arguments are settled, the execute is offered to the other daemons. When all have offered their
// parts, the cluster asks each to prepare: the participants of this daemon take their devices and their
// memory like those of any execute of several participants, and report instead of starting. Then either all
// daemons start, or this part is released, as if nothing had happened, and may be asked again.
#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"
#include "server/device/execution/launched_execute.h"
#include "server/device/execution/participants.h"
#include "server/device/session_device.h"

namespace hlod::device {

void Executions::AddLaunch(const std::shared_ptr<Execution>& execution, bool bound) {
  // Also if it is refused: then TakeBack refuses the parts of the other daemons.
  state_.devices.launches()->Add(execution->launched);
  DeferringLock lock(&state_.mu, &state_.failed);
  if (state_.closed) {
    TakeBackLaunch(*execution, MakeError(ErrorKind::kCancelled, "The session has ended."), lock);
  } else if (bound) {
    // Only now: another thread that ends what the execute waits for would offer a part that is not there.
    Start(execution->task, lock.ready_tasks());
  }
}

void Executions::OfferLaunch(const std::shared_ptr<Execution>& execution) {
  const std::shared_ptr<SessionExecutable> held = Hold(*execution);
  if (held == nullptr) return;
  Executable& program = *held->compiled;
  const bool separate = execution->launched->request().separate;
  state_.devices.launches()->Offer(execution->launched,
                                   separate ? program.DigestWithoutSource() : program.digest());
}

void Executions::TakeBackLaunch(const Execution& execution, const absl::Status& why, DeferringLock& lock) {
  const std::shared_ptr<Launches>& launches = state_.devices.launches();
  if (execution.launched == nullptr || launches == nullptr) return;
  lock.Call([launches, part = execution.launched, why] { launches->TakeBack(part, why); });
}

std::shared_ptr<Executions::Participants> Executions::BeginAttempt(
    const std::shared_ptr<Execution>& execution, absl::Status& why) {
  MutexLock lock(&state_.mu);
  if (state_.closed || execution->reported) {
    why = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
    return nullptr;
  }
  if (!execution->ready) {  // The program may not be compiled yet.
    why = FailedPrecondition("The execute of this part still waits for its program or its arguments.");
    return nullptr;
  }
  execution->running = true;
  return std::make_shared<Participants>(execution, execution->executable->compiled->plan());
}

void Executions::EndAttempt(Execution& execution) {
  MutexLock lock(&state_.mu);
  execution.running = false;
}

// Tells the cluster that all participants of this daemon have their devices and their memory. Returns true
// when all daemons start, false when this one is to give back what it has.
bool Executions::AwaitLaunch(Participants& participants) {
  LaunchPart::Report prepared;
  {
    MutexLock lock(&participants.mu);
    prepared = std::exchange(participants.prepared, nullptr);
  }
  if (prepared != nullptr) prepared(absl::OkStatus());
  // The leader learns of a cancel, and of the session's end, and releases this part; but it may be out of
  // reach.
  static constexpr std::chrono::milliseconds kBetweenLooks(100);
  MutexLock lock(&participants.mu);
  while (participants.phase == Participants::Phase::kGathering && !participants.may_start) {
    participants.changed.WaitFor(&participants.mu, kBetweenLooks);
    if (participants.phase != Participants::Phase::kGathering || participants.may_start ||
        !participants.execution->cancel)
      continue;
    participants.refused = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
    participants.phase = Participants::Phase::kOver;
    participants.changed.SignalAll();
  }
  return participants.phase == Participants::Phase::kGathering;
}

LaunchedExecute::LaunchedExecute(const std::shared_ptr<Executions>& executions,
                                 const std::shared_ptr<Execution>& execution)
    : request_(execution->request.launch),
      devices_(executions->state_.devices),
      session_(executions->state_.session),
      executions_(executions),
      execution_(execution) {}

std::shared_ptr<Executions::Participants> LaunchedExecute::Attempt() {
  MutexLock lock(&mu_);
  return active_ ? attempt_.lock() : nullptr;
}

void LaunchedExecute::Prepare(Report prepared) {
  uint64_t releases;
  {
    MutexLock lock(&mu_);
    if (HasAttempt()) {
      next_ = std::move(prepared);
      return;
    }
    beginning_ = true;
    releases = releases_;
  }
  Begin(std::move(prepared), releases);
}

void LaunchedExecute::Begin(Report prepared, uint64_t releases) {
  absl::Cleanup not_begun = [this] {  // After an exception.
    MutexLock lock(&mu_);
    beginning_ = false;
  };
  const std::shared_ptr<Execution> execution = execution_.lock();
  const std::shared_ptr<Executions> executions = executions_.lock();
  absl::Status why = MakeError(ErrorKind::kCancelled, "The session has ended.");
  std::shared_ptr<Executions::Participants> attempt;
  if (execution != nullptr && executions != nullptr) attempt = executions->BeginAttempt(execution, why);
  if (attempt == nullptr) {
    std::move(not_begun).Cancel();
    prepared(why);
    return GoOn();
  }
  {
    MutexLock lock(&attempt->mu);
    attempt->prepared = std::move(prepared);
  }
  bool released;
  {
    MutexLock lock(&mu_);
    attempt_ = attempt;
    active_ = true;
    std::move(not_begun).Cancel();
    beginning_ = false;
    released = releases_ != releases;
  }
  executions->QueueParticipant(attempt, 0);
  if (released) ReleaseAttempt(*attempt);
}

void LaunchedExecute::Release() {
  std::shared_ptr<Executions::Participants> attempt;
  {
    MutexLock lock(&mu_);
    ++releases_;
    next_ = nullptr;
    if (active_) attempt = attempt_.lock();
  }
  if (attempt != nullptr) ReleaseAttempt(*attempt);
}

void LaunchedExecute::ReleaseAttempt(Executions::Participants& attempt) {
  {
    MutexLock lock(&attempt.mu);
    if (attempt.phase != Executions::Participants::Phase::kGathering || attempt.may_start) return;
    attempt.phase = Executions::Participants::Phase::kOver;
    attempt.prepared = nullptr;
    attempt.changed.SignalAll();
    // Otherwise the last participant that leaves its device ends the attempt.
    if (attempt.inside > 0 || std::exchange(attempt.settled, true)) return;
  }
  OnAttemptOver();
}

void LaunchedExecute::Start(std::shared_ptr<Carrier> carrier, Report done) {
  const std::shared_ptr<Executions::Participants> attempt = Attempt();
  bool waits = false;
  if (attempt != nullptr) {
    MutexLock lock(&attempt->mu);
    waits = attempt->phase == Executions::Participants::Phase::kGathering;
    if (waits) {
      attempt->may_start = true;
      attempt->elsewhere.carrier = std::move(carrier);
      attempt->done = std::move(done);
    }
  }
  // Without the lock: the other thread may go on at once on this core, and would wait for the lock.
  if (waits) return attempt->changed.SignalAll();
  const absl::Status why = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  Refuse(why);
  done(why);
}

bool LaunchedExecute::IsWanted() const {
  return std::ranges::any_of(request_->own, [this](size_t i) {
    return devices_.device(request_->devices[i]).queue.OthersWait(session_);
  });
}

void LaunchedExecute::Cancel(const absl::Status& why) {
  const std::shared_ptr<Executions::Participants> attempt = Attempt();
  if (attempt == nullptr) return;
  {
    MutexLock lock(&attempt->mu);
    attempt->verdict.Update(why);
  }
  attempt->execution->cancel = true;
}

void LaunchedExecute::Refuse(const absl::Status& why) {
  {
    MutexLock lock(&mu_);
    if (HasAttempt()) {
      refused_.Update(why);
      return;
    }
  }
  const std::shared_ptr<Execution> execution = execution_.lock();
  const std::shared_ptr<Executions> executions = executions_.lock();
  if (execution != nullptr && executions != nullptr) executions->Settle(execution, why);
}

void LaunchedExecute::OnAttemptOver() {
  const std::shared_ptr<Execution> execution = execution_.lock();
  const std::shared_ptr<Executions> executions = executions_.lock();
  if (execution != nullptr && executions != nullptr) executions->EndAttempt(*execution);
  GoOn();
}

void LaunchedExecute::GoOn() {
  const std::shared_ptr<Execution> execution = execution_.lock();
  const std::shared_ptr<Executions> executions = executions_.lock();
  Report next;
  absl::Status refused;
  uint64_t releases;
  {
    MutexLock lock(&mu_);
    active_ = false;
    next = std::exchange(next_, nullptr);
    refused = refused_;
    releases = releases_;
    // Until the next attempt is there, a Prepare of the cluster's thread must not begin another.
    beginning_ = refused.ok() && next != nullptr;
  }
  if (!refused.ok()) {
    if (execution != nullptr && executions != nullptr) executions->Settle(execution, refused);
  } else if (next != nullptr) {
    Begin(std::move(next), releases);
  }
}

}  // namespace hlod::device
