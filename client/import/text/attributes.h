// Attributes of MLIR text, flat and as lists of integers, as operation.h has them.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Any attribute, as it is written: dense literals stay literals.
absl::StatusOr<Attribute> ReadAttribute(Source& source);

// "{name = value, name}" into `attributes` of the operation `operation`, each by Put.
absl::Status ReadAttributeMap(Source& source, std::string_view operation, AttributeMap& attributes);

// Adds an attribute of an operation: the fields of a structure (dot_dimension_numbers, channel_handle) beside
// the others, a dense literal of integers and one dimension as Integers unless it is a constant's value.
// Error at `at`: it is there already.
absl::Status Put(Source& source, std::string_view operation, std::string_view name, Attribute attribute,
                 size_t at, AttributeMap& attributes);

// "[0, 1]", into Integers; `type` is theirs.
absl::StatusOr<Attribute> ReadIntegers(Source& source, hlo::PrimitiveType type = hlo::kS64);
// "[DEFAULT, HIGHEST]", into a list of Words.
absl::StatusOr<Attribute> ReadWords(Source& source);

}  // namespace hlod::stablehlo::text
