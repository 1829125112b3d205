// A program as lines, so that tests can compare two programs and show the difference.
#pragma once

#include <string>

#include "client/import/program/operation.h"

namespace hlod::stablehlo {

// Return everything but locations: one line per operation, attribute or function.
std::string ToText(const Program& program);
std::string ToText(const Operation& operation, int indent = 0);
std::string ToText(const Attribute& attribute);

// Returns the text without attributes that have their defaults: the forms differ in which of them they omit.
std::string WithoutDefaults(const std::string& text);

}  // namespace hlod::stablehlo
