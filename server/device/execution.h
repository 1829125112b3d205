// One execute from its command to its end. Private to the workspace.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "server/device/workspace.h"

namespace hlod::device {

struct Execution {
  explicit Execution(ExecuteRequest r) : request(std::move(r)) {}

  ExecuteRequest request;
  std::shared_ptr<Program> program;
  std::vector<std::shared_ptr<Buffer>> arguments;  // Null for a literal.
  std::vector<std::shared_ptr<Buffer>> results;    // Null for a dropped one.
  std::vector<bool> donated;                       // By argument.
  std::vector<bool> absent;                        // By argument: a placeholder. Empty when there is none.
  std::shared_ptr<Task> task = std::make_shared<Task>();
  std::atomic<bool> cancel{false};
  // No longer waiting: checked, queued or running. Guarded by the workspace's lock, as the next one.
  bool started = false;
  bool settled = false;
  Done done;
};

}  // namespace hlod::device
