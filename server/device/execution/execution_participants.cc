// Executes of several participants. Each participant runs on its own device's queue, and they meet at
// collectives.
//
// Devices are acquired in the order of their ordinals: when a participant runs and has its memory, the next
// one is queued for its device. Of two executes that want the same devices, one therefore acquires them all
// first, and they never wait for each other's devices. The run starts when the last participant has its
// memory. Until then nothing is changed, and a device that is held runs short jobs of other sessions beside,
// as it does beside any long execute.
#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/exceptions.h"
#include "common/base/errors/status.h"
#include "common/base/system/rendezvous.h"
#include "server/device/execution/execution_run.h"
#include "server/device/execution/executions.h"
#include "server/device/execution/launched_execute.h"
#include "server/device/execution/participants.h"

namespace hlod::device {

Executions::Participants::Participants(std::shared_ptr<Execution> e, const engine::Plan& whole)
    : execution(std::move(e)),
      plan(execution->abstract ? *execution->part : whole),
      elsewhere(OthersOf(*execution)),
      rendezvous(Names(*execution, plan.stats().participants), launched() ? &elsewhere : nullptr) {
  order.resize(execution->request.participants());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [this](size_t m) { return execution->request.DeviceOf(m); });
  runs.resize(order.size());
}

Elsewhere Executions::Participants::OthersOf(const Execution& execution) {
  const LaunchRequest* const launch = execution.request.launch.get();
  if (launch == nullptr) return {};
  return {.rank = launch->rank, .ranks = launch->ranks, .carrier = nullptr, .spaces = {}};
}

std::vector<std::string> Executions::Participants::Names(const Execution& execution,
                                                         const hlo::Participants& participants) {
  std::vector<std::string> names;
  const LaunchRequest* const launch = execution.request.launch.get();
  const size_t count = launch != nullptr ? launch->ranks.size() : execution.request.participants();
  for (size_t i = 0; i < count; ++i) {
    names.push_back(absl::StrFormat("%s on device %d", participants.Name(static_cast<int64_t>(i)),
                                    launch != nullptr ? launch->devices[i] : execution.request.DeviceOf(i)));
    if (launch != nullptr) absl::StrAppend(&names.back(), " of rank ", launch->ranks[i]);
  }
  return names;
}

void Executions::QueueParticipants(const std::shared_ptr<Execution>& execution) {
  const std::shared_ptr<SessionExecutable> held = Hold(*execution);
  if (held != nullptr) QueueParticipant(std::make_shared<Participants>(execution, held->compiled->plan()), 0);
}

void Executions::QueueParticipant(const std::shared_ptr<Participants>& participants, size_t position) {
  const uint32_t device = participants->execution->request.DeviceOf(participants->order[position]);
  state_.devices.device(device).queue.Submit(
      state_.session, Executable::kUnknownRunUs,
      [self = Self(), participants, position] { self->RunParticipant(participants, position); });
}

bool Executions::PostponeParticipant(const std::shared_ptr<Participants>& participants, size_t position) {
  if (position == 0 && !participants->launched()) {
    MutexLock lock(&state_.mu);
    participants->execution->running = false;
  }
  const uint32_t device = participants->execution->request.DeviceOf(participants->order[position]);
  return state_.devices.device(device).queue.Postpone(
      state_.session, Executable::kUnknownRunUs,
      [self = Self(), participants, position] { self->RunParticipant(participants, position); });
}

// A job of a device's queue: when it returns, the device can run the next job.
void Executions::RunParticipant(const std::shared_ptr<Participants>& participants, size_t position) {
  Execution& execution = *participants->execution;
  if (position == 0 && !participants->launched()) {
    MutexLock lock(&state_.mu);
    if (execution.reported) return;  // It was cancelled, or its session has ended, so it holds nothing.
    execution.running = true;
  }
  {
    MutexLock lock(&participants->mu);
    if (participants->phase != Participants::Phase::kGathering) return;  // The execute was refused meanwhile.
    ++participants->inside;
  }
  absl::Status status;
  try {
    status = Gather(*participants, position);
    if (KindOf(status) == ErrorKind::kNoMemory) {
      // Another run may hold the memory that it needs. The job may start again before PostponeParticipant
      // returns.
      Count(*participants, -1);
      if (PostponeParticipant(participants, position)) return;
      Count(*participants, 1);
    }
    if (status.ok() && position + 1 < participants->order.size()) {
      QueueParticipant(participants, position + 1);
    } else if (status.ok() && (!participants->launched() || AwaitLaunch(*participants))) {
      StartParticipants(*participants);
    }
  } catch (const std::exception& e) {  // For example bad_alloc.
    status = ExceptionError("The run could not start", e);
  }
  if (!status.ok()) Refuse(*participants, status);
  if (AwaitStart(*participants)) {
    RunMemberPlan(*participants, participants->order[position]);
  } else {
    participants->runs[participants->order[position]].reset();
  }
  EndParticipant(participants);
}

// Allocates the participant's memory.
absl::Status Executions::Gather(Participants& participants, size_t position) {
  const size_t participant = participants.order[position];
  Execution& execution = *participants.execution;
  if (execution.cancel) return MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  std::optional<PlanRun>& run = participants.runs[participant];
  run.emplace(state_, execution, participants.plan, participant);
  run->CollectArguments();
  if (!execution.abstract) {
    MutexLock lock(&state_.mu);
    run->state.mu.AssertHeld();
    run->ChooseAliases();
  }
  absl::Status allocated = run->Allocate();
  if (!allocated.ok()) run.reset();
  return allocated;
}

void Executions::Count(Participants& participants, int inside) {
  MutexLock lock(&participants.mu);
  participants.inside += static_cast<size_t>(inside);
}

void Executions::Refuse(Participants& participants, const absl::Status& status) {
  MutexLock lock(&participants.mu);
  if (participants.phase != Participants::Phase::kGathering) return;
  participants.refused = status;
  participants.phase = Participants::Phase::kOver;
  participants.changed.SignalAll();
}

// Starts the run once all have their memory: from now on the donated arguments are consumed.
void Executions::StartParticipants(Participants& participants) {
  {
    MutexLock lock(&participants.mu);
    if (participants.phase != Participants::Phase::kGathering) return;
  }
  {
    DeferringLock lock(&state_.mu, &state_.failed);
    Consume(*participants.execution, state_, lock);
    for (std::optional<PlanRun>& run : participants.runs) {
      run->state.mu.AssertHeld();
      run->TakeOver();
    }
  }
  for (std::optional<PlanRun>& run : participants.runs) run->CopyShared();
  if (participants.launched()) {
    participants.elsewhere.spaces.resize(participants.elsewhere.ranks.size(), nullptr);
    for (size_t m = 0; m < participants.runs.size(); ++m)
      participants.elsewhere.spaces[participants.execution->request.NumberOf(m)] =
          participants.runs[m]->received.data();
  }
  participants.peak_bytes = state_.account->figures().live_bytes;
  participants.start = std::chrono::steady_clock::now();
  MutexLock lock(&participants.mu);
  participants.phase = Participants::Phase::kRunning;
  participants.changed.SignalAll();
}

// Returns true when the run starts, false when it will not.
bool Executions::AwaitStart(Participants& participants) {
  static constexpr std::chrono::milliseconds kBetweenLooks(5);
  MutexLock lock(&participants.mu);
  while (participants.phase == Participants::Phase::kGathering) {
    // When all have their devices, the last participant starts all of them, so a cancel must not come in
    // between.
    const bool last = participants.inside == participants.order.size();
    if (participants.execution->cancel && !last) {
      participants.refused = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
      participants.phase = Participants::Phase::kOver;
      participants.changed.SignalAll();
      break;
    }
    participants.changed.WaitFor(&participants.mu, kBetweenLooks);
  }
  return participants.phase == Participants::Phase::kRunning;
}

void Executions::RunMemberPlan(Participants& participants, size_t participant) {
  absl::Status status;
  try {
    status = participants.runs[participant]->RunPlan(participants.execution->preparation,
                                                     &participants.rendezvous);
  } catch (const std::exception& e) {  // bad_alloc, and anything that a library throws.
    status = ExceptionError("The run failed", e);
  }
  bool may_go_on = status.ok();
  try {
    participants.rendezvous.Leave(static_cast<int>(participants.execution->request.NumberOf(participant)),
                                  status);
  } catch (const std::exception&) {  // No memory for the error's text: the others stop because of the cancel.
    may_go_on = false;
  }
  // The others cannot finish without this participant. They are cancelled after it has left: the first error
  // is the cause, and theirs would be the cancel.
  if (!may_go_on) participants.execution->cancel = true;
  MutexLock lock(&participants.mu);
  ++participants.ended;
}

// Records a run that has ended, and gives the execute its results if it succeeded.
void Executions::GiveResults(Participants& participants, bool succeeded) {
  Execution& execution = *participants.execution;
  Executable& executable = *execution.executable->compiled;
  int64_t run_us = 0;  // An abstract run counts no time.
  if (execution.abstract) {
    ++executable.executes;
    std::vector<PlanRun*> runs;
    for (std::optional<PlanRun>& run : participants.runs) runs.push_back(&*run);
    MutexLock lock(&state_.mu);
    if (succeeded) participants.peak_bytes = PublishAbstract(execution, runs);
  } else {
    run_us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                   participants.start)
                 .count();
    executable.CountRun(run_us);
    DropDonated(execution);
    MutexLock lock(&state_.mu);
    for (std::optional<PlanRun>& run : participants.runs) {
      run->state.mu.AssertHeld();
      if (succeeded) run->Publish();
    }
  }
  RecordRun(execution,
            std::chrono::duration_cast<std::chrono::microseconds>(participants.start - execution.ready_since),
            run_us, participants.peak_bytes);
}

// Ends a participant; the last one answers the execute, unless its launch decides that.
void Executions::EndParticipant(const std::shared_ptr<Participants>& participants) {
  absl::Status status, verdict;
  LaunchPart::Report prepared, done;
  {
    MutexLock lock(&participants->mu);
    --participants->inside;
    const bool all_ended = participants->ended == participants->order.size();
    const bool given_up = participants->phase == Participants::Phase::kOver && participants->inside == 0;
    if (!(all_ended || given_up) || std::exchange(participants->settled, true)) return;
    participants->phase = Participants::Phase::kOver;
    status = participants->refused;
    verdict = participants->verdict;
    prepared = std::exchange(participants->prepared, nullptr);
    done = std::exchange(participants->done, nullptr);
  }
  Execution& execution = *participants->execution;
  if (participants->start != std::chrono::steady_clock::time_point()) {
    status = WithRunKind(participants->rendezvous.cause(), TimeLimit(execution.request, state_.limits),
                         state_.limits);
    if (KindOf(status) != ErrorKind::kCancelled) {
      status = Annotate(status, participants->rendezvous.context());
    } else if (!verdict.ok()) {
      status = verdict;
    }
    GiveResults(*participants, status.ok());
  }
  participants->runs.clear();
  if (!participants->launched() || done != nullptr) Settle(participants->execution, status);
  if (!participants->launched()) return;
  execution.launched->OnAttemptOver();
  if (prepared != nullptr) prepared(status);
  if (done != nullptr) done(status);
}

}  // namespace hlod::device
