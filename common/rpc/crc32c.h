// The checksum of bulk data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace hlod::rpc {

// Returns the CRC-32C (Castagnoli, RFC 3720) of `data`; `seed` is the checksum of the preceding bytes. Uses
// the processor's instruction if it has it.
uint32_t Crc32c(absl::Span<const std::byte> data, uint32_t seed = 0);

}  // namespace hlod::rpc
