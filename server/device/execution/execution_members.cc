// Executes of several members: each runs on its own device's queue, and they meet at collectives.
//
// The members' devices are taken in the order of their ordinals: a member gets its turn and its memory, and
// only then the next one asks for its device. So of two executes that want the same devices one has them all
// first, and neither waits for a device that the other holds while that one waits for its own. The run starts
// when the last member has its memory; until then nothing has happened, and a device that is held runs short
// work of other sessions beside, as it does beside any long execute.
#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/base/errors/status.h"
#include "common/base/system/meeting.h"
#include "server/device/execution/execution_run.h"
#include "server/device/execution/executions.h"

namespace hlod::device {

// What the members of one execute share. Lives as long as one of their jobs.
struct Executions::Members {
  enum class Phase : uint8_t { kGathering, kRunning, kOver };

  Members(std::shared_ptr<Execution> e, const engine::Plan& plan)
      : execution(std::move(e)), meeting(Names(*execution, plan.stats().members)) {
    order.resize(execution->request.members());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [this](size_t m) { return execution->request.DeviceOf(m); });
    runs.resize(order.size());
  }
  static std::vector<std::string> Names(const Execution& execution, const hlo::Members& members) {
    std::vector<std::string> names;
    for (size_t m = 0; m < execution.request.members(); ++m) {
      names.push_back(absl::StrFormat("%s on device %d", members.Name(static_cast<int64_t>(m)),
                                      execution.request.DeviceOf(m)));
    }
    return names;
  }

  const std::shared_ptr<Execution> execution;
  std::vector<size_t> order;  // Members by their devices.
  Meeting meeting;
  // Of each member from when it has its memory. Its own thread's, but at the start, when all others wait.
  std::vector<std::optional<PlanRun>> runs;
  std::chrono::steady_clock::time_point start;
  int64_t peak_bytes = 0;

  Mutex mu;
  CondVar changed ABSL_GUARDED_BY(mu);
  Phase phase ABSL_GUARDED_BY(mu) = Phase::kGathering;
  size_t inside ABSL_GUARDED_BY(mu) = 0;  // Members that hold their device.
  size_t ended ABSL_GUARDED_BY(mu) = 0;   // Members whose run is over.
  bool settled ABSL_GUARDED_BY(mu) = false;
  absl::Status refused ABSL_GUARDED_BY(mu);  // While they gathered.
};

void Executions::QueueMembers(const std::shared_ptr<Execution>& execution) {
  QueueMember(std::make_shared<Members>(execution, execution->executable->compiled->plan()), 0);
}

void Executions::QueueMember(const std::shared_ptr<Members>& members, size_t position) {
  const uint32_t device = members->execution->request.DeviceOf(members->order[position]);
  state_.devices.device(device).queue.Submit(
      state_.session, Executable::kUnknownRunUs,
      [self = Self(), members, position] { self->RunMember(members, position); });
}

bool Executions::PostponeMember(const std::shared_ptr<Members>& members, size_t position) {
  if (position == 0) {
    MutexLock lock(&state_.mu);
    members->execution->running = false;
  }
  const uint32_t device = members->execution->request.DeviceOf(members->order[position]);
  return state_.devices.device(device).queue.Postpone(
      state_.session, Executable::kUnknownRunUs,
      [self = Self(), members, position] { self->RunMember(members, position); });
}

// A job of a device's queue: the device is free for the next one when it returns.
void Executions::RunMember(const std::shared_ptr<Members>& members, size_t position) {
  Execution& execution = *members->execution;
  if (position == 0) {
    MutexLock lock(&state_.mu);
    if (execution.reported) return;  // Cancelled, or its session is gone: it holds nothing any more.
    execution.running = true;
  }
  {
    MutexLock lock(&members->mu);
    if (members->phase != Members::Phase::kGathering) return;  // It was given up meanwhile.
    ++members->inside;
  }
  absl::Status status;
  try {
    status = Gather(*members, position);
    if (KindOf(status) == ErrorKind::kNoMemory) {
      // A run beside it may hold what it needs. The job may start again before PostponeMember returns.
      Count(*members, -1);
      if (PostponeMember(members, position)) return;
      Count(*members, 1);
    }
    if (status.ok() && position + 1 < members->order.size()) {
      QueueMember(members, position + 1);
    } else if (status.ok()) {
      StartMembers(*members);
    }
  } catch (const std::exception& e) {  // bad_alloc.
    status = Internal("The run could not start: %s.", e.what());
  }
  if (!status.ok()) Refuse(*members, status);
  if (AwaitStart(*members)) RunMemberPlan(*members, members->order[position]);
  EndMember(members);
}

// The member's memory.
absl::Status Executions::Gather(Members& members, size_t position) {
  const size_t member = members.order[position];
  Execution& execution = *members.execution;
  if (execution.cancel) return MakeError(ErrorKind::kCancelled, "The command was cancelled.");
  std::optional<PlanRun>& run = members.runs[member];
  run.emplace(state_, execution, execution.executable->compiled->plan(), member);
  run->CollectArguments();
  {
    MutexLock lock(&state_.mu);
    run->ChooseAliases();
  }
  absl::Status allocated = run->Allocate();
  if (!allocated.ok()) run.reset();
  return allocated;
}

void Executions::Count(Members& members, int inside) {
  MutexLock lock(&members.mu);
  members.inside += static_cast<size_t>(inside);
}

void Executions::Refuse(Members& members, const absl::Status& status) {
  MutexLock lock(&members.mu);
  if (members.phase != Members::Phase::kGathering) return;
  members.refused = status;
  members.phase = Members::Phase::kOver;
  members.changed.SignalAll();
}

// All have their memory: from here on what was donated is gone.
void Executions::StartMembers(Members& members) {
  {
    MutexLock lock(&members.mu);
    if (members.phase != Members::Phase::kGathering) return;
  }
  {
    DeferringLock lock(&state_.mu);
    Consume(*members.execution, state_, lock);
    for (std::optional<PlanRun>& run : members.runs) run->TakeOver();
  }
  for (std::optional<PlanRun>& run : members.runs) run->CopyShared();
  members.peak_bytes = state_.account->figures().live_bytes;
  members.start = std::chrono::steady_clock::now();
  MutexLock lock(&members.mu);
  members.phase = Members::Phase::kRunning;
  members.changed.SignalAll();
}

// True when the run starts, false when it will not.
bool Executions::AwaitStart(Members& members) {
  static constexpr std::chrono::milliseconds kBetweenLooks(5);
  MutexLock lock(&members.mu);
  while (members.phase == Members::Phase::kGathering) {
    // The last member has its memory, and starts all at once: a cancel must not come between.
    const bool last = members.inside == members.order.size();
    if (members.execution->cancel && !last) {
      members.refused = MakeError(ErrorKind::kCancelled, "The command was cancelled.");
      members.phase = Members::Phase::kOver;
      members.changed.SignalAll();
      break;
    }
    members.changed.WaitFor(&members.mu, kBetweenLooks);
  }
  return members.phase == Members::Phase::kRunning;
}

void Executions::RunMemberPlan(Members& members, size_t member) {
  absl::Status status;
  try {
    status = members.runs[member]->RunPlan(absl::ZeroDuration(), &members.meeting);
  } catch (const std::exception& e) {  // bad_alloc, and whatever a library lets out.
    status = Internal("The run failed: %s.", e.what());
  }
  members.meeting.Leave(static_cast<int>(member), status);
  // Without this member the others cannot come to an end.
  if (!status.ok()) members.execution->cancel = true;
  MutexLock lock(&members.mu);
  ++members.ended;
}

// The last one answers.
void Executions::EndMember(const std::shared_ptr<Members>& members) {
  absl::Status status;
  {
    MutexLock lock(&members->mu);
    --members->inside;
    const bool all_ended = members->ended == members->order.size();
    const bool given_up = members->phase == Members::Phase::kOver && members->inside == 0;
    if (!(all_ended || given_up) || std::exchange(members->settled, true)) return;
    members->phase = Members::Phase::kOver;
    status = members->refused;
  }
  Execution& execution = *members->execution;
  if (members->start != std::chrono::steady_clock::time_point()) {
    const auto run_us = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - members->start);
    execution.executable->compiled->CountRun(run_us.count());
    RecordRun(execution,
              std::chrono::duration_cast<std::chrono::microseconds>(members->start - execution.ready_since),
              run_us.count(), members->peak_bytes);
    DropDonated(execution);
    status =
        WithRunKind(members->meeting.cause(), TimeLimit(execution.request, state_.limits), state_.limits);
    if (KindOf(status) != ErrorKind::kCancelled) status = Annotate(status, members->meeting.context());
    if (status.ok()) {
      MutexLock lock(&state_.mu);
      for (std::optional<PlanRun>& run : members->runs) run->Publish();
    }
  }
  members->runs.clear();
  Settle(members->execution, status);
}

}  // namespace hlod::device
