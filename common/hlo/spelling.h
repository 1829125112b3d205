// Names as the proto and the text spell them: opcodes old and new, comparison directions and types.
#pragma once

#include <optional>
#include <string_view>

#include "common/hlo/attributes.h"
#include "common/hlo/opcode.h"

namespace hlod::hlo {

// An opcode under its present or an old spelling, with the comparison that old comparison opcodes had in
// their name.
struct OpcodeSpelling {
  Opcode opcode;
  std::string_view direction;  // "EQ"...; empty but for old comparisons.
};
std::optional<OpcodeSpelling> ParseOpcodeSpelling(std::string_view name);

// "LT" and "TOTALORDER" as the proto and the text spell them.
std::string_view DirectionName(ComparisonDirection direction);
std::string_view ComparisonTypeName(ComparisonType type);
std::optional<ComparisonDirection> ParseDirection(std::string_view name);
std::optional<ComparisonType> ParseComparisonType(std::string_view name);

}  // namespace hlod::hlo
