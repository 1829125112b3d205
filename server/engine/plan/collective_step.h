// Collectives among the members of a program: steps that meet.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/plan/plan.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// A step for a collective of a program of several members, but for the end (-done) of one. Inputs are its
// operands, outputs the array leaves of its result. INVALID_ARGUMENT when its groups do not fit the program.
absl::StatusOr<std::unique_ptr<Step>> MakeCollectiveStep(const hlo::Module& module,
                                                         hlo::Instruction instruction,
                                                         const CompileOptions& options);

}  // namespace hlod::engine
