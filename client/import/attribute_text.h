// Attributes and types as MLIR prints them: what a typed custom call's backend_config is, and what a
// StableHLO program says.
#pragma once

#include <string>
#include <string_view>

#include "client/import/operation.h"

namespace hlod::stablehlo {

// "76 : ui8", "[1 : i64, true]", "{mode = 86 : ui8, uplo = 76 : ui8}"; "unit" for one that says nothing.
std::string TextOf(const Attribute& attribute);
std::string TextOf(const AttributeMap& attributes);
// What a string, a word or a symbol says; other attributes as TextOf.
std::string PlainText(const Attribute& attribute);
// A text in quotes.
std::string Quoted(std::string_view text);

// "i1", "ui8", "f8E4M3FN", "complex<f32>".
std::string ElementTypeText(hlo::PrimitiveType type);
// "tensor<2x?xf32>", bounds as an encoding; "!stablehlo.token"; "tuple<...>".
std::string TypeText(const Type& type);

}  // namespace hlod::stablehlo
