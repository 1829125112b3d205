// What parsing a serialized module would hold, counted on the wire before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlod::hlo::codec {

struct WireCount {
  int64_t instructions = 0;
  // Of the parsed message: not less than it takes, for fields that occur as they are declared.
  int64_t memory_bytes = 0;
};

// Counts in the bytes of an HloModuleProto. Nothing when they are not one: cut off, nested deeper than
// protobuf parses, or with a group, which no field of XLA's is.
std::optional<WireCount> CountWire(std::string_view module);

}  // namespace hlod::hlo::codec
