// The pretty forms of operations: a table of small formats, and functions for the others.
#pragma once

#include <string_view>

#include "client/import/text/operations.h"

namespace hlod::stablehlo::text {

// Reads an operation by its format in forms.inc, after its name. Returns false when the table does not have
// it.
absl::StatusOr<bool> ReadByFormat(Source& source, PartialOperation& draft);

// Read forms that no format describes, after the operation's name.
absl::Status ReadWhile(Source& source, PartialOperation& draft);
absl::Status ReadReduce(Source& source, PartialOperation& draft);
absl::Status ReadScan(Source& source, PartialOperation& draft);
absl::Status ReadFunction(Source& source, PartialOperation& draft);
absl::Status ReadModule(Source& source, PartialOperation& draft);

}  // namespace hlod::stablehlo::text
