// The part of an operand that an instruction touches, on which traffic, memory and fusion all depend.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::analysis {

enum class Access {
  kWhole,    // Reads all of it, as far as is known.
  kPart,     // Reads no more of it than the result holds, as slices do.
  kUpdated,  // Overwrites parts of it; in place when nothing later reads the operand.
};
Access AccessOf(hlo::Instruction user, uint32_t operand);

}  // namespace hlod::analysis
