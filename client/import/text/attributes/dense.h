// Reads the elements of dense<...> and of a resource.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Reads "dense<[1, 2]> : tensor<2xi32>" after its "dense": a literal, or a splat that is too large for one.
absl::StatusOr<Attribute> ReadDense(Source& source);
// Reads "dense_resource<name> : tensor<2xi32>" after its "dense_resource".
absl::StatusOr<Attribute> ReadDenseResource(Source& source);
// Reads one float: decimal, or the bits of `type` in hexadecimal.
absl::StatusOr<double> ReadDouble(Reader& reader, hlo::PrimitiveType type);
// Reads one integer that `type` can hold, signed or unsigned. Returns its bits.
absl::StatusOr<int64_t> ReadInteger(Reader& reader, hlo::PrimitiveType type);

}  // namespace hlod::stablehlo::text
