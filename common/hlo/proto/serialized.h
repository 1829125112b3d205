// Serialized modules, looked at without parsing them.
#pragma once

#include <string>
#include <string_view>

namespace hlod::hlo::codec {

// The bytes of the HloModuleProto: themselves, or inside an HloProto (field 1), or inside an HloSnapshot's
// HloProto. In a bare module, field 1 is the name, and no name looks like a message with computations (field
// 3) inside.
std::string_view ModuleBytes(std::string_view bytes);

// The module's name for messages, at most 256 bytes of it; empty when the bytes are not a module, or the name
// is not printable ASCII.
std::string ModuleName(std::string_view bytes);

}  // namespace hlod::hlo::codec
