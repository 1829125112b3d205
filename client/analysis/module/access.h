// How much of an operand an instruction touches: what traffic, memory and fusion all go by.
#pragma once

#include <cstdint>

#include "common/hlo/module.h"

namespace hlod::analysis {

enum class Access {
  kWhole,    // Reads it all, as far as is known.
  kPart,     // Reads no more of it than the result holds: slices.
  kUpdated,  // Overwrites parts of it, in place where the operand ends here.
};
Access AccessOf(hlo::Instruction user, uint32_t operand);

}  // namespace hlod::analysis
