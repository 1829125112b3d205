// The part of an operand that an instruction accesses, which determines traffic, memory and fusion.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::analysis {

enum class Access {
  kWhole,    // Reads all of it, as far as is known.
  kPart,     // Reads no more of it than the result holds, as slices do.
  kUpdated,  // Overwrites parts of it; in place if the operand is not read later.
};
Access AccessOf(hlo::Instruction user, uint32_t operand);

}  // namespace hlod::analysis
