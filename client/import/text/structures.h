// Attributes of dialects that have fields: #stablehlo.dot<...>, .conv<...>, .gather<...> and the others, and
// the rule by which they become flat.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// The attribute after "#name": its fields as an AttributeMap, a Word for one of a list
// (#stablehlo<precision HIGH>), or a Word of the whole text. `at` is where its '#' stands.
absl::StatusOr<Attribute> ReadDialectAttribute(Source& source, std::string_view name, size_t at);

// "<field = value, ...>" of the structure `name` ("stablehlo.dot_algorithm"), whose fields that are not
// stated have their defaults.
absl::StatusOr<Attribute> ReadStructure(Source& source, std::string_view name);

// The same after its '<', with the '>'.
absl::StatusOr<Attribute> ReadFields(Source& source, std::string_view name);

// "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]": a convolution's dimension numbers, by their fields.
absl::StatusOr<Attribute> ReadConvolutionDimensions(Source& source);

// Whether the fields of the attribute `name` stand beside an operation's others.
bool IsFlattened(std::string_view name);

}  // namespace hlod::stablehlo::text
