// Estimates the size of a parsed module on the wire, before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlod::hlo::codec {

struct WireCount {
  int64_t instructions = 0;
  // Memory of the parsed message: an upper bound, for fields that occur as they are declared.
  int64_t memory_bytes = 0;
};

// Counts the contents of an HloModuleProto. Returns nullopt when the bytes are not one: cut off, nested
// deeper than protobuf parses, or with a group, which XLA's messages do not have.
std::optional<WireCount> CountWire(std::string_view module);

}  // namespace hlod::hlo::codec
