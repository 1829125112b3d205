// Reduces a serialized module to what it computes, without the parts about its source: two programs that
// differ only in comments and line numbers are the same program here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hlod::hlo::codec {

struct WithoutMetadata {
  std::string module;  // A serialized HloModuleProto.
  std::string name;    // The module's name.
};

// Returns the module (raw, or in an HloProto or HloSnapshot) without its name, its instructions' metadata and
// its stack frames. All other bytes are kept in their order, so equal results mean programs that differ in
// nothing else. It reads only the wire format, which costs as much as copying it. nullopt when the bytes are
// not a message, or longer than 2 GiB.
std::optional<WithoutMetadata> StripMetadata(std::string_view bytes);

}  // namespace hlod::hlo::codec
