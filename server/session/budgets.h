// The budgets of the daemon's memory besides the session's buffers, one per kind of transient data. All
// except device memory is also charged to the share of the session's user.
#pragma once

#include <limits>
#include <memory>

#include "common/base/limits.h"
#include "server/device/memory/byte_budget.h"

namespace hlod::session {

struct SessionBudgets {
  SessionBudgets(const Limits& limits, const std::shared_ptr<device::MemoryShare>& share)
      : staging(limits.staging_bytes_max, "staging_bytes_max", "that wait", share),
        copies(limits.arena_bytes, "arena_bytes", "that are not done"),
        downloads(limits.unacknowledged_bytes_max, "unacknowledged_bytes_max", "that are not acknowledged",
                  nullptr, device::ByteBudget::Oversized::kTakenAlone),
        replies(limits.unacknowledged_bytes_max, "unacknowledged_bytes_max", "that are not acknowledged",
                share),
        commands(std::numeric_limits<int64_t>::max(), "commands_in_flight_max", "that are not settled",
                 share) {}

  // For programs until they are compiled, and bulk chunks until their upload is declared.
  device::ByteBudget staging;
  // For copies from or to the arena until they are done; all pending ones together fit into the arena.
  device::ByteBudget copies;
  // For downloads by Bulk.Download until they are acknowledged. A single one may exceed the limit: it is in
  // the session's own device memory, and the client has no other way to read it.
  device::ByteBudget downloads;
  // For replies until they are acknowledged. Replies that may be large are checked before they are made, and
  // then charged with their actual size.
  device::ByteBudget replies;
  // For the memory of each command besides its arguments, until it is settled. commands_in_flight_max bounds
  // the number of commands.
  static constexpr int64_t kCommandBytes = 1 << 10;
  device::ByteBudget commands;
};

}  // namespace hlod::session
