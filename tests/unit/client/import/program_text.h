// A program as lines, so that tests can compare two of them and show where they differ.
#pragma once

#include <string>

#include "client/import/operation.h"

namespace hlod::stablehlo {

// Everything but locations: one line an operation, an attribute, a function.
std::string ToText(const Program& program);
std::string ToText(const Operation& operation, int indent = 0);
std::string ToText(const Attribute& attribute);

// The same without the attributes that have their defaults: the forms differ in which of them they leave out.
std::string WithoutDefaults(const std::string& text);

}  // namespace hlod::stablehlo
