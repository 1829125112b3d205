// Reads attributes of dialects that have fields: #stablehlo.dot<...>, .conv<...>, .gather<...> and others.
// Says which of them are flattened.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Reads the attribute after "#name": its fields as an AttributeMap, an enumerator (#stablehlo<precision
// HIGH>) as a Word, or the whole text as a Word. `at` is the position of its '#'.
absl::StatusOr<Attribute> ReadDialectAttribute(Source& source, std::string_view name, size_t at);

// Reads "<field = value, ...>" of the structure `name` ("stablehlo.dot_algorithm"). Fields that are not
// stated get their defaults.
absl::StatusOr<Attribute> ReadStructure(Source& source, std::string_view name);

// Reads the same from after its '<' to its '>'.
absl::StatusOr<Attribute> ReadFields(Source& source, std::string_view name);

// Reads "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", a convolution's dimension numbers, as their fields.
absl::StatusOr<Attribute> ReadConvolutionDimensions(Source& source);

// Returns true when the fields of the attribute `name` become attributes of the operation.
bool IsFlattened(std::string_view name);

}  // namespace hlod::stablehlo::text
