// Copying payloads that others will read: between a caller, the arena that client and daemon share, and
// device memory.
#pragma once

#include <cstddef>

namespace hlod {

// memcpy, for any size and alignment; large runs are stored past the caches where the processor can (twice as
// fast, and nobody reads them soon).
void CopyBytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace hlod
