// The kinds of attributes inside an operation's pretty form, as forms.inc names them.
#pragma once

#include <string_view>

#include "client/import/text/operations.h"

namespace hlod::stablehlo::text {

// Reads the text at the current position into the attribute `name` of the draft's operation, or into the
// several attributes that it abbreviates.
using ReadKind = absl::Status (*)(Source& source, std::string_view name, PartialOperation& draft);

// Returns the reader of a kind ("integers", "word", ...), or null.
ReadKind FindKind(std::string_view kind);

}  // namespace hlod::stablehlo::text
