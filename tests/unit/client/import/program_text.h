// A program as lines, so that tests can compare two of them and show where they differ.
#pragma once

#include <string>

#include "client/import/operation.h"

namespace hlod::stablehlo {

// Everything but locations: one line an operation, an attribute, a function.
std::string ToText(const Program& program);
std::string ToText(const Operation& operation, int indent = 0);
std::string ToText(const Attribute& attribute);

}  // namespace hlod::stablehlo
