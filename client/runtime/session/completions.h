// Calls back when commands are done, for programs that cannot wait themselves: a thread of its own waits.
//
// Waking that thread, and being woken by it, costs more than a tiny execute. So a caller that is expected to
// wait for its callback next (Urgency::kAwaited) waits here itself for a moment, and takes the messages from
// the connection without a second thread. Callbacks that nobody is expected to wait for (Urgency::kLater) are
// called by whichever thread passes here after the command's end, or by the completion thread, which looks
// once per kLater and not once per command.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/runtime/session/session.h"

namespace hlod::runtime {

// Decides when to try a wait that is often in vain: each failure in a row doubles the number of occasions
// that are left out before the next try, up to kPauseMax. Thread-safe.
class Patience {
 public:
  static constexpr int kPauseMax = 255;
  // Returns true when the wait is to be tried now. Ended() must follow.
  bool Try();
  void Ended(bool successful);

 private:
  std::atomic<int> pause_{0}, left_out_{0};
};

// One per session. Its thread starts with the first command that is waited for, and ends when the object is
// gone and every callback was called. Thread-safe.
class Completions {
 public:
  using Callback = std::function<void(const absl::Status&)>;
  enum class Urgency { kAwaited, kLater };
  // The longest time that WhenDone waits (kAwaited), and about the longest delay of a callback (kLater).
  static constexpr absl::Duration kLater = absl::Milliseconds(1);

  explicit Completions(std::shared_ptr<Session> session);
  ~Completions();

  // Calls `callback` once with the command's status. If the command is done, or with kAwaited is done within
  // a moment, this thread calls it now; otherwise another thread does later. A session that is lost or closed
  // ends every command. No lock is held during the call.
  void WhenDone(Command command, Callback callback, Urgency urgency = Urgency::kAwaited);
  // The number of times that the completion thread has waited for events.
  int64_t waits() const { return state_->waits.load(std::memory_order_relaxed); }

 private:
  struct Waiting {
    Command command;
    Callback callback;
    Urgency urgency;
    int64_t round;  // The value of State::round when it was added.
  };
  struct State {
    explicit State(std::shared_ptr<Session> session) : session(std::move(session)) {}
    const std::shared_ptr<Session> session;
    absl::Mutex mu;
    std::vector<Waiting> waiting ABSL_GUARDED_BY(mu);
    int awaited ABSL_GUARDED_BY(mu) = 0;    // The number of `waiting` that are kAwaited.
    int64_t round ABSL_GUARDED_BY(mu) = 0;  // Counts the pauses of the completion thread.
    std::atomic<int64_t> waits{0};
    bool running ABSL_GUARDED_BY(mu) = false;
    bool ending ABSL_GUARDED_BY(mu) = false;
  };
  static void Run(const std::shared_ptr<State>& state);
  // Pauses for kLater, unless a callback is awaited or there are many. Returns true when the thread must wait
  // for events: there was no pause, or a callback is older than the pause.
  static bool Pause(State& state);
  static void CallDone(State& state, const absl::Status& session_status);

  // Waits for the command for a moment, on this thread. Returns true when it is done.
  bool WaitBriefly(const CommandState& command);

  const std::shared_ptr<State> state_;
  Patience patience_;
};

}  // namespace hlod::runtime
