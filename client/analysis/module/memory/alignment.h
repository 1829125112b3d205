// The sizes of buffers in memory.
#pragma once

#include <cstdint>

namespace hlod::analysis {

// Returns the bytes that a buffer takes. XLA's CPU backend aligns buffers to 64 bytes, GPUs to 256, TPUs to
// tiles.
inline int64_t AlignedBytes(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace hlod::analysis
