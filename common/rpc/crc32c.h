// The checksum of bulk data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace hlod::rpc {

// Returns the CRC-32C (Castagnoli, RFC 3720) of `data`; `seed` is the checksum of the bytes before. Uses the
// processor's instruction where it exists.
uint32_t Crc32c(absl::Span<const std::byte> data, uint32_t seed = 0);

}  // namespace hlod::rpc
