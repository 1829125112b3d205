// Reads types of MLIR text as HLO shapes.
#pragma once

#include "absl/status/statusor.h"
#include "client/import/program/operation.h"
#include "client/import/text/source.h"

namespace hlod::stablehlo::text {

// Reads the type of a value: tensor<...>, tuple<...>, memref<...>, !stablehlo.token, !stablehlo.future<...>
// (a tuple), or an alias of one.
absl::StatusOr<Type> ReadType(Source& source);
// Reads a tensor's element type: f32, i1, ui8, complex<f64>, index (s64).
absl::StatusOr<hlo::PrimitiveType> ReadElementType(Source& source);
// Reads "(tensor<f32>, tensor<i1>) -> tensor<f32>".
absl::StatusOr<FunctionType> ReadFunctionType(Source& source);
// Reads "type, type, ...", at least one.
absl::StatusOr<std::vector<Type>> ReadTypes(Source& source);
// Reads the part after "->": "(type, ...)", maybe empty, or one type without parentheses.
absl::StatusOr<std::vector<Type>> ReadResultTypes(Source& source);

// Returns true when a type follows: of values, of elements or of functions.
bool AtType(Reader& reader);
// Reads any of these as an attribute: a Type (a scalar for an element type), a FunctionType, or a Word for a
// type that hlod does not have (tf32, none).
absl::StatusOr<Attribute> ReadTypeAttribute(Source& source);

}  // namespace hlod::stablehlo::text
