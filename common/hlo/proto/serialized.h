// Finds parts of serialized modules without parsing them.
#pragma once

#include <string>
#include <string_view>

namespace hlod::hlo::codec {

// Returns the bytes of the HloModuleProto: `bytes` itself, or a part of it when that is an HloProto (field 1)
// or an HloSnapshot with an HloProto. In a bare module, field 1 is the name, and no name looks like a message
// with computations (field 3) inside.
std::string_view ModuleBytes(std::string_view bytes);

// Returns the module's name for messages, at most 256 bytes of it; empty when the bytes are not a module, or
// the name is not printable ASCII.
std::string ModuleName(std::string_view bytes);

}  // namespace hlod::hlo::codec
