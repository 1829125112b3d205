// The queue of jobs, and the thread that takes them from it.
#include "client/pjrt/events/worker.h"

#include <thread>
#include <utility>

namespace hlod::pjrt {

Worker::Worker() : state_(std::make_shared<State>()) {}

Worker::~Worker() {
  absl::MutexLock lock(&state_->mu);
  state_->ending = true;
}

void Worker::Run(std::function<void()> job) {
  absl::MutexLock lock(&state_->mu);
  if (!state_->running) std::thread([state = state_] { Loop(state); }).detach();
  state_->running = true;  // Only now: starting a thread may fail, and the next job tries again.
  state_->jobs.push_back(std::move(job));
}

void Worker::Loop(const std::shared_ptr<State>& state) {
  const auto has_work = [&]()
                            ABSL_NO_THREAD_SAFETY_ANALYSIS { return !state->jobs.empty() || state->ending; };
  for (;;) {
    std::function<void()> job;
    {
      absl::MutexLock lock(&state->mu);
      state->mu.Await(absl::Condition(&has_work));
      if (state->jobs.empty()) return;
      job = std::move(state->jobs.front());
      state->jobs.pop_front();
    }
    job();
  }
}

}  // namespace hlod::pjrt
