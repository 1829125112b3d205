// The elements of dense<...> and of a resource.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/import/text/source.h"
#include "common/hlo/literal.h"

namespace hlod::stablehlo::text {

// "dense<[1, 2]> : tensor<2xi32>" after its "dense"; a splat is expanded.
absl::StatusOr<hlo::Literal> ReadDense(Source& source);
// "dense_resource<name> : tensor<2xi32>" after its "dense_resource".
absl::StatusOr<hlo::Literal> ReadDenseResource(Source& source);
// One float: decimal, or the bits of `type` in hexadecimal.
absl::StatusOr<double> ReadDouble(Reader& reader, hlo::PrimitiveType type);
// One integer that `type` can hold, as bits: signed or unsigned.
absl::StatusOr<int64_t> ReadInteger(Reader& reader, hlo::PrimitiveType type);

}  // namespace hlod::stablehlo::text
