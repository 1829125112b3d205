// What a serialized module computes, apart from what it says about its source: two programs that differ in
// comments and lines alone are one program here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hlod::hlo::codec {

struct WithoutMetadata {
  std::string module;  // A serialized HloModuleProto.
  std::string name;    // What the module was called.
};

// The module (raw, or in an HloProto or HloSnapshot) without its name, its instructions' metadata and its
// stack frames; every other byte is kept in its order, so that equal results mean programs that differ in
// nothing else. Looks at the wire alone, which costs as much as copying it. Nothing when the bytes are not
// a message, or longer than 2 GiB.
std::optional<WithoutMetadata> StripMetadata(std::string_view bytes);

}  // namespace hlod::hlo::codec
