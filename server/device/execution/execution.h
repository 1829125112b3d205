// One execute, from its command to its end. Private to Executions.
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

class LaunchedExecute;

struct Execution {
  explicit Execution(ExecuteRequest r) : request(std::move(r)) {}

  ExecuteRequest request;
  std::shared_ptr<SessionExecutable> executable;
  std::vector<std::shared_ptr<Buffer>> arguments;  // One buffer per argument; null for a literal.
  std::vector<std::shared_ptr<Buffer>> results;    // One buffer per result; null for a dropped result.
  std::vector<bool> donated;                       // By argument, true when it is donated.
  std::vector<bool> absent;  // By argument, true for a placeholder. Empty when all have values.
  bool abstract = false;     // True when the arguments or the results include a placeholder.
  // Set when an abstract execute is prepared: which results have a value, the plan that computes them (null
  // if none has), and how long the preparation took.
  std::vector<bool> computable;
  std::shared_ptr<const engine::Plan> part;
  absl::Duration preparation;
  int64_t held_bytes = 0;  // Host memory that is charged to the session until the execute has ended.
  std::shared_ptr<Task> task = std::make_shared<Task>();
  std::shared_ptr<LaunchedExecute> launched;  // Null unless the request is a part of a launch.
  std::atomic<bool> cancel{false};
  // Guarded by the session's lock. True when everything that the execute needs is settled: it is being
  // checked, is queued or runs.
  bool ready = false;
  std::chrono::steady_clock::time_point ready_since;
  // True while it is on the device: its arguments and results are in use until the run has ended.
  bool running = false;
  // True when its results have failed and its command was answered. Its donations still order later commands
  // until it is ready.
  bool reported = false;
  bool in_line = false;  // True when it is in Executions::lines_.
  Done done;

  // Returns the bytes of an argument, from its buffer or its literal.
  const std::byte* ArgumentBytes(size_t i) const {
    return arguments[i] != nullptr ? arguments[i]->block.data()
                                   : request.arguments[i].literal->bytes().data();
  }
};

// Looks up all handles, defines the results, and makes the task depend on everything that is not settled. The
// results are defined even if it returns an error, so that the caller can fail them with it. `fills` is true
// for each result that is to fill a placeholder.
absl::Status Bind(Execution& execution, std::vector<bool> fills, SessionState& state,
                  ByteBudget& waiting_arguments) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);
// Checks that the settled arguments and the results fit the program, and records which arguments are absent.
absl::Status CheckArguments(Execution& execution, SessionState& state)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mu);

// Returns "execute of \"step\"", or "execute" when the program is not known.
std::string DescribeExecute(const Execution& execution);
// Returns how long an execute may run, including the preparation of an abstract one.
absl::Duration TimeLimit(const ExecuteRequest& request, const Limits& limits);

}  // namespace hlod::device
