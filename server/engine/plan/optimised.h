// Compile in two halves, for a cache that keeps what the passes make.
#pragma once

#include <memory>

#include "server/engine/plan/plan.h"

namespace hlod::engine {

// Compile, which also gives what the passes made of the module. Null `optimised`: as Compile.
absl::StatusOr<std::unique_ptr<Plan>> Compile(const hlo::Module& module, const CompileOptions& options,
                                              std::shared_ptr<const hlo::Module>* optimised);

// The second half of Compile: the plan of such an optimised module, perhaps after a way through its
// serialized form.
absl::StatusOr<std::unique_ptr<Plan>> PlanOptimised(std::shared_ptr<const hlo::Module> module,
                                                    const CompileOptions& options = {});

}  // namespace hlod::engine
