// The maximum size of a message of hlod.v1, on both sides of the wire.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/limits.h"

namespace hlod::rpc {

// The bytes of one message besides its payload; an execute that names a million handles fits.
inline constexpr int64_t kMessageOverheadBytes = 14 << 20;

// Returns the size of the largest message that a daemon with these limits accepts: inline bytes in a command,
// or one chunk.
inline int64_t MessageBytesMax(const Limits& limits) {
  return std::max(limits.inline_bytes_max, limits.chunk_bytes_max) + kMessageOverheadBytes;
}

}  // namespace hlod::rpc
