// The threads of calls that cannot be stopped.
#include "server/engine/run/strays.h"

#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace hlod::engine {

// The interval at which a run that waits for a call checks cancel and deadline.
constexpr std::chrono::milliseconds kLook{5};

Strays::~Strays() {
  std::unique_lock<std::mutex> lock(mu_);
  none_.wait(lock, [this] { return count_ == 0; });
}

bool Strays::Add() {
  const std::lock_guard<std::mutex> lock(mu_);
  if (count_ >= kMax) return false;
  ++count_;
  return true;
}

void Strays::Remove() {
  const std::lock_guard<std::mutex> lock(mu_);
  if (--count_ == 0) none_.notify_all();
}

bool AbandonedCalls::Make(const RunContext& run, std::function<void()> call) {
  const auto state = std::make_shared<Call>();
  std::thread thread;
  try {
    thread = std::thread([state, &all = all_, call]() mutable {
      call();
      call = nullptr;
      std::shared_ptr<void> used;
      bool left;
      {
        const std::lock_guard<std::mutex> lock(state->mu);
        state->has_ended = true;
        left = state->left;
        used = std::move(state->used);
        state->ended.notify_all();
      }
      used.reset();
      if (left) all.Remove();
    });
  } catch (const std::system_error&) {  // The process may not be able to start threads; then the run makes
                                        // the call itself.
    call();
    return true;
  }
  {
    std::unique_lock<std::mutex> lock(state->mu);
    while (!state->ended.wait_for(lock, kLook, [&] { return state->has_ended; })) {
      if (!StopCheck::MustStop(run) || !all_.Add()) continue;
      state->left = true;
      break;
    }
  }
  if (!state->left) {
    thread.join();
    return true;
  }
  thread.detach();
  const std::lock_guard<std::mutex> lock(mu_);
  left_.push_back(state);
  return false;
}

void AbandonedCalls::Keep(const std::shared_ptr<void>& used) {
  for (const std::shared_ptr<Call>& call : left_) {
    const std::lock_guard<std::mutex> lock(call->mu);
    if (!call->has_ended) call->used = used;
  }
}

}  // namespace hlod::engine
