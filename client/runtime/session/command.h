// A command in flight, as those who wait for it see it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::runtime {

class Session;

// `done` is set once, after the other fields, which never change again.
struct CommandState {
  uint64_t id = 0;
  uint32_t origin = 0;
  bool has_reply = false;  // True when it is answered by a Reply even if it succeeds.
  std::atomic<bool> done = false;
  absl::Status status;  // OK, or the command's error.
  v1::Reply reply;      // The Reply; default if the command succeeded without one.
  // For the execute of a launch that an Execution names: those of the other daemons, by session and id. Set
  // before the Execution is returned; null for other commands.
  std::unique_ptr<const std::vector<std::pair<std::weak_ptr<Session>, uint64_t>>> other_parts;
};
using Command = std::shared_ptr<CommandState>;

}  // namespace hlod::runtime
