// Finds parts of serialized modules without parsing them.
#pragma once

#include <string>
#include <string_view>

namespace hlod::hlo::codec {

// Returns the bytes of the HloModuleProto: `bytes` itself, or the part of it when it is an HloProto (field 1)
// or an HloSnapshot with an HloProto. Field 1 of a bare module is its name, which does not look like a
// message with computations (field 3).
std::string_view ModuleBytes(std::string_view bytes);

// Returns the module's name for messages, truncated to 256 bytes; empty when the bytes are not a module, or
// the name is not printable ASCII.
std::string ModuleName(std::string_view bytes);

}  // namespace hlod::hlo::codec
