// Estimates the size of a parsed module on the wire, before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlod::hlo::codec {

struct WireCount {
  int64_t instructions = 0;
  // An upper bound on the memory of the parsed message, for fields that occur as declared.
  int64_t memory_bytes = 0;
};

// Counts the contents of an HloModuleProto. Returns nullopt when the bytes are not one: they are truncated,
// nested deeper than protobuf parses, or contain a group, which XLA's messages do not have.
std::optional<WireCount> CountWire(std::string_view module);

}  // namespace hlod::hlo::codec
