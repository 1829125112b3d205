// The list of commands that are waited for, and the thread that goes through it.
#include "client/runtime/session/completions.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "absl/time/clock.h"

namespace hlod::runtime {
namespace {

// With this many callbacks that nobody awaits, the completion thread does not pause, but waits for events at
// once: the program sends without waiting, and the thread that polls does the sending for it.
constexpr size_t kMany = 8;

thread_local bool on_completion_thread = false;

}  // namespace

bool Patience::Try() {
  if (left_out_.load(std::memory_order_relaxed) <= 0) return true;
  left_out_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void Patience::Ended(bool successful) {
  const int pause = pause_.load(std::memory_order_relaxed);
  const int next = successful ? pause / 2 : std::min(2 * pause + 1, kPauseMax);
  pause_.store(next, std::memory_order_relaxed);
  if (!successful) left_out_.store(next, std::memory_order_relaxed);
}

Completions::Completions(std::shared_ptr<Session> session)
    : state_(std::make_shared<State>(std::move(session))) {}

Completions::~Completions() {
  if (!state_->session->owner().IsThisOne()) return;
  absl::MutexLock lock(&state_->mu);
  state_->ending = true;
}

bool Completions::WaitBriefly(const CommandState& command) {
  if (on_completion_thread || !patience_.Try()) return false;
  state_->session->Wait(command, absl::Now() + kLater).IgnoreError();
  const bool done = command.done.load(std::memory_order_acquire);
  patience_.Ended(done);
  return done;
}

void Completions::WhenDone(Command command, Callback callback, Urgency urgency) {
  State& state = *state_;
  if (const absl::Status process = state.session->owner().Check(); !process.ok()) return callback(process);
  if (command->done.load(std::memory_order_acquire)) return callback(command->status);
  if (urgency == Urgency::kAwaited && WaitBriefly(*command)) {
    callback(command->status);
    // The messages that came may have ended other commands, too.
    return CallDone(state, absl::OkStatus());
  }
  {
    absl::MutexLock lock(&state.mu);
    if (!state.running) std::thread([shared = state_] { Run(shared); }).detach();
    state.running = true;  // Only now: starting a thread may fail, and the next command tries again.
    state.waiting.push_back({command, std::move(callback), urgency, state.round});
    if (urgency == Urgency::kAwaited) ++state.awaited;
  }
  // The thread may have looked at the list before the command was in it, and after the command was done: then
  // no event would wake it.
  if (command->done.load(std::memory_order_acquire)) CallDone(state, absl::OkStatus());
}

void Completions::CallDone(State& state, const absl::Status& session_status) {
  std::vector<Waiting> done;
  {
    absl::MutexLock lock(&state.mu);
    const auto first =
        std::stable_partition(state.waiting.begin(), state.waiting.end(), [&](const Waiting& w) {
          return session_status.ok() && !w.command->done.load(std::memory_order_acquire);
        });
    std::move(first, state.waiting.end(), std::back_inserter(done));
    for (const Waiting& each : done) state.awaited -= each.urgency == Urgency::kAwaited ? 1 : 0;
    state.waiting.erase(first, state.waiting.end());
  }
  for (const Waiting& each : done) {
    const bool settled = each.command->done.load(std::memory_order_acquire);
    each.callback(settled ? each.command->status : session_status);
  }
}

bool Completions::Pause(State& state) {
  const auto is_urgent = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return state.awaited > 0 || state.waiting.size() >= kMany || state.ending;
  };
  {
    absl::MutexLock lock(&state.mu);
    if (state.mu.AwaitWithTimeout(absl::Condition(&is_urgent), kLater)) return true;
    ++state.round;
  }
  CallDone(state, absl::OkStatus());
  absl::MutexLock lock(&state.mu);
  return std::any_of(state.waiting.begin(), state.waiting.end(), [&](const Waiting& each) {
    state.mu.AssertHeld();
    return each.urgency == Urgency::kAwaited || each.round + 1 < state.round;
  });
}

void Completions::Run(const std::shared_ptr<State>& state) {
  on_completion_thread = true;
  int64_t seen = -1;  // The session's commands that were done when the list was last searched.
  const auto any_done = [&] {
    // Most events are the ends of writes, which complete no command. The list is only searched if commands
    // are done, because it may have a thousand commands, and the thread that adds to it waits for the lock.
    const int64_t done = state->session->commands_done();
    absl::MutexLock lock(&state->mu);
    if (done == std::exchange(seen, done) && !state->waiting.empty()) return false;
    // Another thread may have called back for all that were waited for.
    return state->waiting.empty() ||
           std::any_of(state->waiting.begin(), state->waiting.end(), [](const Waiting& each) {
             return each.command->done.load(std::memory_order_acquire);
           });
  };
  const auto has_work = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !state->waiting.empty() || state->ending;
  };
  bool many = false;  // True while the program sends without waiting, until no callback is left.
  for (;;) {
    {
      absl::MutexLock lock(&state->mu);
      if (state->waiting.empty()) many = false;
      state->mu.Await(absl::Condition(&has_work));
      if (state->waiting.empty()) return;
    }
    if (!many && !Pause(*state)) continue;
    {
      absl::MutexLock lock(&state->mu);
      many = many || state->waiting.size() >= kMany;
    }
    state->waits.fetch_add(1, std::memory_order_relaxed);
    seen = -1;
    CallDone(*state, state->session->WaitFor(any_done));
  }
}

}  // namespace hlod::runtime
