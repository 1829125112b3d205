// Attributes as MLIR prints them: what a typed custom call's backend_config is.
#pragma once

#include <string>

#include "client/import/operation.h"

namespace hlod::stablehlo {

// "76 : ui8", "[1 : i64, true]", "{mode = 86 : ui8, uplo = 76 : ui8}"; "unit" for one that says nothing.
std::string TextOf(const Attribute& attribute);
std::string TextOf(const AttributeMap& attributes);
// What a string, a word or a symbol says; other attributes as TextOf.
std::string PlainText(const Attribute& attribute);

}  // namespace hlod::stablehlo
