// Attributes of programs that HLO keeps as text beside its instructions.
#pragma once

#include <map>
#include <string>

#include "common/hlo/module.h"

namespace hlod::pjrt {

// Returns the attribute of that name; empty when there is none.
inline std::string AttributeOr(const std::map<std::string, std::string>& attributes, const char* name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? "" : found->second;
}

// Returns the notes of an instruction; null when it has none.
inline const hlo::Notes* NotesOf(hlo::Instruction instruction) {
  return instruction.computation().notes(instruction.id());
}

}  // namespace hlod::pjrt
