// Keeps the meetings of participants, and watches how long they wait.
#include "client/pjrt/run/rendezvous.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "absl/strings/str_join.h"
#include "client/pjrt/client.h"
#include "client/pjrt/division/merge.h"
#include "client/runtime/observe/warnings.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {

// The number of merged programs kept for later runs.
constexpr size_t kMergedMax = 256;

Rendezvous::Rendezvous(absl::Duration warn_after, absl::Duration fail_after)
    : state_(new State{.warn_after = warn_after, .fail_after = fail_after}) {}

Rendezvous::~Rendezvous() {
  absl::MutexLock lock(&state_->mu);
  state_->ending = true;
}

void Rendezvous::Join(std::shared_ptr<DeferredRun> part, const std::vector<Device*>& devices) {
  const auto participant = static_cast<size_t>(
      std::find(devices.begin(), devices.end(), part->run().devices[0]) - devices.begin());
  if (participant == devices.size()) {
    part->Fail(InvalidArgument("%s was not compiled for device %d.", part->run().program->module().name(),
                               part->run().devices[0]->ordinal()));
    return;
  }
  Meeting complete;
  {
    absl::MutexLock lock(&state_->mu);
    Watch(state_);
    std::deque<Meeting>& waiting = state_->meetings[devices];
    auto meeting = std::find_if(waiting.begin(), waiting.end(),
                                [&](const Meeting& each) { return each.parts[participant] == nullptr; });
    if (meeting == waiting.end()) {
      waiting.push_back({.parts = std::vector<std::shared_ptr<DeferredRun>>(devices.size()),
                         .devices = devices,
                         .since = absl::Now()});
      meeting = std::prev(waiting.end());
    }
    meeting->parts[participant] = std::move(part);
    if (++meeting->present < devices.size()) return;
    complete = std::move(*meeting);
    waiting.erase(meeting);
    if (waiting.empty()) state_->meetings.erase(devices);
  }
  Start(complete);
}

absl::StatusOr<hlod::Executable> Rendezvous::Merge(const Meeting& meeting) {
  std::vector<std::string> digests;
  std::vector<const hlo::Module*> modules;
  for (const std::shared_ptr<DeferredRun>& part : meeting.parts) {
    digests.push_back(part->run().program->fingerprint());
    modules.push_back(&part->run().program->module());
  }
  const DeferredRun& first = *meeting.parts[0];
  if (std::adjacent_find(digests.begin(), digests.end(), std::not_equal_to<>()) == digests.end())
    return first.run().runtime;
  {
    absl::MutexLock lock(&state_->mu);
    if (const auto found = state_->merged.find(digests); found != state_->merged.end()) return found->second;
  }
  const auto compile = [&]() -> absl::StatusOr<hlod::Executable> {
    ASSIGN_OR_RETURN(const std::unique_ptr<hlo::Module> merged, MergePrograms(modules));
    return first.run().program->client().runtime().Compile(*merged, {}, first.line());
  };
  absl::StatusOr<hlod::Executable> compiled = compile();
  // Programs that differ always fail; an error of the connection or of memory may pass.
  if (!compiled.ok() && !absl::IsInvalidArgument(compiled.status())) return compiled;
  absl::MutexLock lock(&state_->mu);
  if (state_->merged.size() >= kMergedMax) state_->merged.clear();  // The shapes may change with each step.
  return state_->merged.try_emplace(std::move(digests), std::move(compiled)).first->second;
}

void Rendezvous::Start(const Meeting& meeting) {
  absl::StatusOr<hlod::Executable> program = Merge(meeting);
  if (!program.ok()) {
    Fail(meeting, program.status());
    return;
  }
  const std::shared_ptr<DeferredRun>& all = meeting.parts[0];
  for (size_t i = 1; i < meeting.parts.size(); ++i) all->Append(*meeting.parts[i]);
  all->StartWhenGiven(*std::move(program));
}

void Rendezvous::Fail(const absl::Status& error) {
  Meetings meetings;
  {
    absl::MutexLock lock(&state_->mu);
    meetings.swap(state_->meetings);
  }
  for (const auto& [devices, waiting] : meetings) {
    for (const Meeting& meeting : waiting) Fail(meeting, error);
  }
}

void Rendezvous::Fail(const Meeting& meeting, const absl::Status& error) {
  for (const std::shared_ptr<DeferredRun>& part : meeting.parts) {
    if (part != nullptr) part->Fail(error);
  }
}

std::string Rendezvous::Describe(const Meeting& meeting) {
  std::vector<int> missing;
  const DeferredRun* first = nullptr;
  for (size_t i = 0; i < meeting.parts.size(); ++i) {
    if (meeting.parts[i] == nullptr) missing.push_back(meeting.devices[i]->ordinal());
    else if (first == nullptr) first = meeting.parts[i].get();
  }
  const Caller& line = first->line();
  return absl::StrFormat(
      "%s%s is run by %d devices together; %d of them ran it so far, and not device %s. Every device must "
      "run the same programs in the same order.",
      first->run().program->module().name(),
      line.line == 0 ? "" : absl::StrFormat(" (%s:%d)", line.file, line.line), meeting.parts.size(),
      meeting.present, absl::StrJoin(missing, ", "));
}

std::vector<Rendezvous::Late> Rendezvous::TakeLate(State& state) {
  std::vector<Late> late;
  const absl::Time now = absl::Now();
  for (auto entry = state.meetings.begin(); entry != state.meetings.end();) {
    std::deque<Meeting>& waiting = entry->second;
    while (!waiting.empty() && now - waiting.front().since >= state.fail_after) {
      const absl::Status error = absl::DeadlineExceededError(Describe(waiting.front()));
      late.push_back({std::move(waiting.front()), error});
      waiting.pop_front();
    }
    for (Meeting& meeting : waiting) {
      if (now - meeting.since >= state.warn_after && !std::exchange(meeting.warned, true))
        runtime::Warn(Describe(meeting));
    }
    entry = waiting.empty() ? state.meetings.erase(entry) : std::next(entry);
  }
  return late;
}

void Rendezvous::Watch(const std::shared_ptr<State>& state) {
  if (state->watched) return;
  const auto watch = [state] {
    const absl::Duration pause = std::min(state->warn_after, state->fail_after) / 2;
    for (bool goes_on = true; goes_on;) {
      std::vector<Late> late;
      {
        absl::MutexLock lock(&state->mu);
        if (state->mu.AwaitWithTimeout(absl::Condition(&state->ending), pause)) return;
        late = TakeLate(*state);
        state->watched = goes_on = !state->meetings.empty();
      }
      for (const Late& each : late) Fail(each.meeting, each.error);
    }
  };
  std::thread(watch).detach();
  state->watched = true;
}

}  // namespace hlod::pjrt
