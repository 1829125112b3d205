// How an attribute is written inside an operation's pretty form: the kinds that forms.inc names.
#pragma once

#include <string_view>

#include "client/import/text/operations.h"

namespace hlod::stablehlo::text {

// Reads what stands here into the attribute `name` of the draft's operation, or into those that it stands
// for.
using ReadKind = absl::Status (*)(Source& source, std::string_view name, Draft& draft);

// The kind ("integers", "word", ...), or null.
ReadKind FindKind(std::string_view kind);

}  // namespace hlod::stablehlo::text
