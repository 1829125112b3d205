// Copies payloads that others will read: between a caller, the arena that client and daemon share, and device
// memory.
#pragma once

#include <cstddef>

namespace hlod {

// Like memcpy, for any size and alignment; large copies bypass the caches if the processor can (twice as
// fast, since the data is not read soon).
void CopyBytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace hlod
