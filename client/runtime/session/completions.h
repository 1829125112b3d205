// Calls back when commands are done, for programs that cannot wait themselves: a thread of its own waits.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/session/session.h"

namespace hlod::runtime {

// One per session. Its thread starts with the first command that is waited for, and ends when the object is
// gone and every callback was called. Thread-safe.
class Completions {
 public:
  using Callback = std::function<void(const absl::Status&)>;

  explicit Completions(std::shared_ptr<Session> session);
  ~Completions();

  // Calls `callback` once with the command's status: now, on this thread, when the command is done, else on
  // the completion thread. A session that is lost or closed ends every command. No lock is held during the
  // call.
  void WhenDone(Command command, Callback callback);

 private:
  struct Waiting {
    Command command;
    Callback callback;
  };
  struct State {
    explicit State(std::shared_ptr<Session> session) : session(std::move(session)) {}
    const std::shared_ptr<Session> session;
    absl::Mutex mu;
    std::vector<Waiting> waiting ABSL_GUARDED_BY(mu);
    bool running ABSL_GUARDED_BY(mu) = false;
    bool ending ABSL_GUARDED_BY(mu) = false;
  };
  static void Run(const std::shared_ptr<State>& state);
  static void CallDone(State& state, const absl::Status& session_status);

  const std::shared_ptr<State> state_;
};

}  // namespace hlod::runtime
