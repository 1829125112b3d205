// The setting $HLOD_RING, which daemons and clients read.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace hlod::rpc {

// `off`: no ring. `on`: a daemon offers its own user's clients a ring (common/rpc/ring.h), and a client takes
// it after its first messages, so that one that has little to say does without. `first`: a client takes it
// with its first message. `all`: a daemon offers it to clients of every user on its host.
enum class RingUse { kOff, kOn, kFirst, kAll };
// Parses a value; empty is the default. INVALID_ARGUMENT names the values.
absl::StatusOr<RingUse> ParseRingUse(std::string_view text);

}  // namespace hlod::rpc
