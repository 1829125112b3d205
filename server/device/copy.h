// Copying payloads between the arena and device memory.
#pragma once

#include <cstddef>

namespace hlod::device {

// memcpy; large runs are stored past the caches where the processor can (twice as fast, and nobody reads them
// soon).
void CopyBytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace hlod::device
