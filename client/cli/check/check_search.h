// Tries the standard shardings of a module on a target, and ranks them.
#pragma once

#include "absl/status/statusor.h"
#include "client/analysis/module/chips/chips.h"
#include "client/cli/commands.h"
#include "common/hlo/module.h"

namespace hlod::cli {

// Partitions the module for each mesh of the target's chips (or for --mesh) by its own shardings, where it
// has any, and by each strategy that makes sense there (hlod.partitioning.rules); judges one chip of each;
// and prints a table with those that fit first, by time, then the others, by peak. Passes when one fits. A
// usage error for a target of one chip; the partitioner's error when nothing can partition.
absl::StatusOr<CheckOutcome> SearchShardings(const CommonOptions& common, const CheckOptions& options,
                                             const hlo::Module& module, const analysis::Target& target);

}  // namespace hlod::cli
