// One execute from its command to its end. Private to Executions.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "server/device/deferring_lock.h"
#include "server/device/memory/byte_budget.h"
#include "server/device/requests.h"
#include "server/device/session_state.h"

namespace hlod::device {

struct Execution {
  explicit Execution(ExecuteRequest r) : request(std::move(r)) {}

  ExecuteRequest request;
  std::shared_ptr<SessionExecutable> executable;
  std::vector<std::shared_ptr<Buffer>> arguments;  // Null for a literal.
  std::vector<std::shared_ptr<Buffer>> results;    // Null for a dropped one.
  std::vector<bool> donated;                       // By argument.
  std::vector<bool> absent;                        // By argument: a placeholder. Empty when all have values.
  bool abstract = false;                           // A placeholder is among the arguments or the results.
  // Of an abstract one, when it is prepared: the results that have a value, what computes them (null when
  // none has one), and how long that took.
  std::vector<bool> computable;
  std::shared_ptr<const engine::Plan> part;
  absl::Duration preparation;
  int64_t held_bytes = 0;  // Of host memory, charged to the session until the execute is over.
  std::shared_ptr<Task> task = std::make_shared<Task>();
  std::atomic<bool> cancel{false};
  // Guarded by the session's lock. What it needs is settled: it is checked, queued or running.
  bool ready = false;
  std::chrono::steady_clock::time_point ready_since;
  // On the device: its arguments and results are in use until the run is over.
  bool running = false;
  // Its results are failed and its command is answered. While it is not ready, its donations still order
  // others.
  bool reported = false;
  bool in_line = false;  // Of Executions::lines_.
  Done done;

  // The bytes of an argument: of its buffer or its literal.
  const std::byte* ArgumentBytes(size_t i) const {
    return arguments[i] != nullptr ? arguments[i]->block.data()
                                   : request.arguments[i].literal->bytes().data();
  }
};

// Looks up all handles, defines the results, and makes the task depend on whatever is not settled. Results
// are defined even when an error is returned: they are there to be failed with it. `fills` says by result
// whether it is to fill a placeholder.
absl::Status Bind(Execution& execution, std::vector<bool> fills, SessionState& state,
                  ByteBudget& waiting_arguments) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
// Whether its arguments, which are settled, and its results fit its program. Finds out which are absent.
absl::Status CheckArguments(Execution& execution, SessionState& state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);

// "execute of \"step\"", as far as the program is known.
std::string DescribeExecute(const Execution& execution);
// How long an execute may run, and one that is abstract be prepared and run.
absl::Duration TimeLimit(const ExecuteRequest& request, const Limits& limits);

}  // namespace hlod::device
