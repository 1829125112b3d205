// The copies of arguments that XLA's CopyInsertion makes.
#pragma once

#include <memory>

#include "client/analysis/module/placement.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns the module with copies of the entry's parameters where XLA may not let an instruction write to
// their memory:
// - Of one that a scatter, a dynamic-update-slice or a loop updates in place, and that belongs to the caller.
// - Of a donated one whose memory a result takes, if something reads it that need not run before that result.
//   All readers then read the copy. XLA decides this by dependencies alone, before there is a schedule.
// The copies have no other operands, so that they run early.
std::unique_ptr<hlo::Module> WithArgumentCopies(const hlo::Module& canonical,
                                                const PlacementOptions& options);

}  // namespace hlod::analysis
