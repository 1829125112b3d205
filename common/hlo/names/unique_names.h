// Unique names in a module, for formats in which instructions and computations are referred to by name.
#pragma once

#include <string>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo::codec {

// The names of all instructions and computations: the note's name if it is still unused, else with ".1",
// ".2", ... appended. Instructions and computations have separate name spaces.
struct ModuleNames {
  std::vector<std::string> computations;               // By ComputationId.
  std::vector<std::vector<std::string>> instructions;  // By ComputationId, NodeId.
};

// Returns unique names. With `identifiers`, characters that HLO text does not allow in a name become '_'.
ModuleNames UniqueNames(const Module& module, bool identifiers = false);

// Returns true when `c` may occur in a name of HLO text.
constexpr bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-';
}

}  // namespace hlod::hlo::codec
