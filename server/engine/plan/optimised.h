// Compiles in two halves, for a cache that keeps the module after the passes.
#pragma once

#include <memory>

#include "server/engine/plan/plan.h"

namespace hlod::engine {

// Like Compile in plan.h. Also sets `*optimised`, unless `optimised` is null, to the module after the passes.
absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& module, const CompileOptions& options,
                                              std::shared_ptr<const hlo::Module>* optimised);

// Runs the second half of Compile: returns the plan of such an optimised module, which may have been
// serialized and parsed in between.
absl::StatusOr<std::unique_ptr<Plan>> PlanOptimised(std::shared_ptr<const hlo::Module> module,
                                                    const CompileOptions& options = {});

}  // namespace hlod::engine
