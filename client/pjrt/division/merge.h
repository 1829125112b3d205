// Merges programs of single participants to one program of all of them.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/hlo/module.h"

namespace hlod::pjrt {

// Returns the program in which participant i does what programs[i] does. PyTorch/XLA traces one program per
// device, and writes the device's number into it (paddings, constants): the programs may differ in the
// attributes and values of instructions of the entry, except in those of collectives. INVALID_ARGUMENT names
// the first other difference.
absl::StatusOr<std::unique_ptr<hlo::Module>> MergePrograms(absl::Span<const hlo::Module* const> programs);

}  // namespace hlod::pjrt
