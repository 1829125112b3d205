// Reads attributes of MLIR text into the forms of operation.h: flat, and with lists of integers.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Reads any attribute as written: dense literals stay literals.
absl::StatusOr<Attribute> ReadAttribute(Source& source);

// Reads "{name = value, name}" into `attributes` of the operation `operation`, each by Put.
absl::Status ReadAttributeMap(Source& source, std::string_view operation, AttributeMap& attributes);

// Adds an attribute of an operation: the fields of a structure (dot_dimension_numbers, channel_handle) are
// added one by one, and a one-dimensional dense literal of integers becomes Integers unless it is a
// constant's value. Returns an error at position `at` when the name exists already.
absl::Status Put(Source& source, std::string_view operation, std::string_view name, Attribute attribute,
                 size_t at, AttributeMap& attributes);

// Reads "[0, 1]" into Integers of type `type`.
absl::StatusOr<Attribute> ReadIntegers(Source& source, hlo::PrimitiveType type = hlo::kS64);
// Reads "[DEFAULT, HIGHEST]" into a list of Words.
absl::StatusOr<Attribute> ReadWords(Source& source);

}  // namespace hlod::stablehlo::text
