// Types of MLIR text as HLO shapes.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// The type of a value: tensor<...>, tuple<...>, memref<...>, !stablehlo.token, !stablehlo.future<...> (a
// tuple), or an alias of one.
absl::StatusOr<Type> ReadType(Source& source);
// f32, i1, ui8, complex<f64>, index (s64): what a tensor holds.
absl::StatusOr<hlo::PrimitiveType> ReadElementType(Source& source);
// "(tensor<f32>, tensor<i1>) -> tensor<f32>".
absl::StatusOr<FunctionType> ReadFunctionType(Source& source);
// "type, type, ...": at least one.
absl::StatusOr<std::vector<Type>> ReadTypes(Source& source);
// "(type, ...)", maybe empty, or one type without parentheses: what follows "->".
absl::StatusOr<std::vector<Type>> ReadResultTypes(Source& source);

// Whether a type stands here, of values or of elements or of functions.
bool AtType(Reader& reader);
// Any of these as an attribute: a Type (of elements: a scalar's), a FunctionType, or a Word where hlod has no
// such type (tf32, none).
absl::StatusOr<Attribute> ReadTypeAttribute(Source& source);

}  // namespace hlod::stablehlo::text
