// The list of commands that are waited for, and the thread that goes through it.
#include "client/runtime/session/completions.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

namespace hlod::runtime {

Completions::Completions(std::shared_ptr<Session> session)
    : state_(std::make_shared<State>(std::move(session))) {}

Completions::~Completions() {
  if (state_->session->InForkedChild()) return;
  absl::MutexLock lock(&state_->mu);
  state_->ending = true;
}

void Completions::WhenDone(Command command, Callback callback) {
  State& state = *state_;
  if (const absl::Status process = state.session->CheckProcess(); !process.ok()) return callback(process);
  if (command->done.load(std::memory_order_acquire)) return callback(command->status);
  {
    absl::MutexLock lock(&state.mu);
    if (!state.running) std::thread([shared = state_] { Run(shared); }).detach();
    state.running = true;  // Only now: starting a thread may fail, and the next command tries again.
    state.waiting.push_back({command, std::move(callback)});
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
    state.waiting.erase(first, state.waiting.end());
  }
  for (const Waiting& each : done) {
    const bool settled = each.command->done.load(std::memory_order_acquire);
    each.callback(settled ? each.command->status : session_status);
  }
}

void Completions::Run(const std::shared_ptr<State>& state) {
  const auto any_done = [&] {
    absl::MutexLock lock(&state->mu);
    return std::any_of(state->waiting.begin(), state->waiting.end(), [](const Waiting& each) {
      return each.command->done.load(std::memory_order_acquire);
    });
  };
  const auto has_work = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !state->waiting.empty() || state->ending;
  };
  for (;;) {
    {
      absl::MutexLock lock(&state->mu);
      state->mu.Await(absl::Condition(&has_work));
      if (state->waiting.empty()) return;
    }
    CallDone(*state, state->session->WaitFor(any_done));
  }
}

}  // namespace hlod::runtime
