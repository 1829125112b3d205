// The names in protos and texts: opcodes (current and old spellings), comparison directions and types.
#pragma once

#include <optional>
#include <string_view>

#include "common/hlo/attributes.h"
#include "common/hlo/opcode.h"

namespace hlod::hlo {

// An opcode and, for old comparison opcodes, the direction that their name contains.
struct OpcodeSpelling {
  Opcode opcode;
  std::string_view direction;  // "EQ"...; empty except for old comparisons.
};
std::optional<OpcodeSpelling> ParseOpcodeSpelling(std::string_view name);

// Return the spelling in the proto and the text, for example "LT" and "TOTALORDER".
std::string_view DirectionName(ComparisonDirection direction);
std::string_view ComparisonTypeName(ComparisonType type);
std::optional<ComparisonDirection> ParseDirection(std::string_view name);
std::optional<ComparisonType> ParseComparisonType(std::string_view name);

}  // namespace hlod::hlo
