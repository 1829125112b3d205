// Attributes and types as MLIR prints them: for the backend_config of typed custom calls, and for StableHLO
// text.
#pragma once

#include <string>
#include <string_view>

#include "client/import/program/operation.h"

namespace hlod::stablehlo {

// Returns "76 : ui8", "[1 : i64, true]", "{mode = 86 : ui8, uplo = 76 : ui8}"; "unit" for a unit attribute.
std::string TextOf(const Attribute& attribute);
std::string TextOf(const AttributeMap& attributes);
// Returns the text of a string, a word or a symbol; of other attributes TextOf.
std::string PlainText(const Attribute& attribute);
// Returns the text in quotes, escaped.
std::string Quoted(std::string_view text);

// Returns "i1", "ui8", "f8E4M3FN", "complex<f32>".
std::string ElementTypeText(hlo::PrimitiveType type);
// Returns "tensor<2x?xf32>", with bounds as an encoding; "!stablehlo.token"; "tuple<...>".
std::string TypeText(const Type& type);

}  // namespace hlod::stablehlo
