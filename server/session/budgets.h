// What a session may have in the daemon's memory beside its buffers, as it passes through: a budget for each
// kind. What does not lie in a device's memory counts for the session's user, too.
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

  // Programs until they are compiled, bulk chunks until their upload is declared.
  device::ByteBudget staging;
  // Copies from or to the arena until they are done: what is under way together fits the arena.
  device::ByteBudget copies;
  // Downloads for Bulk.Download until they are acknowledged. One may be larger than the limit: it lies in the
  // session's own device memory, and there is no other way to it.
  device::ByteBudget downloads;
  // Replies until they are acknowledged. Those that may be large are checked before they are made; what is
  // charged is what they take.
  device::ByteBudget replies;
  // What each command takes beside its arguments until it is settled; commands_in_flight_max bounds their
  // number.
  static constexpr int64_t kCommandBytes = 1 << 10;
  device::ByteBudget commands;
};

}  // namespace hlod::session
