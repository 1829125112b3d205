// Removes from a serialized module the parts that describe its source, so that programs that differ only in
// comments and line numbers become equal.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hlod::hlo::codec {

struct WithoutMetadata {
  std::string module;  // A serialized HloModuleProto without these parts.
  std::string name;    // The module's name.
};

// Returns the module (raw, or in an HloProto or HloSnapshot) without its name, its instructions' metadata and
// its stack frames. All other bytes keep their order, so equal results mean programs that do not differ
// otherwise. It reads only the wire format, which costs as much as copying it. nullopt when the bytes are not
// a message, or longer than 2 GiB.
std::optional<WithoutMetadata> StripMetadata(std::string_view bytes);

}  // namespace hlod::hlo::codec
