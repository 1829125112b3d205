// Steps for collectives, at which the participants (replicas and partitions) of a program meet.
#pragma once

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/plan/plan.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Returns a step for a collective, other than the end (-done) of one, of a program with several participants.
// The step's inputs are the operands, and its outputs the array leaves of the result. Returns
// INVALID_ARGUMENT when the collective's groups do not fit the program.
absl::StatusOr<std::unique_ptr<Step>> MakeCollectiveStep(const hlo::Module& module,
                                                         hlo::Instruction instruction,
                                                         const CompileOptions& options);

// See Plan::ReceiveBytes. 0 for other steps.
int64_t ReceiveBytes(const Step& step, int participant, absl::FunctionRef<bool(int)> here);

}  // namespace hlod::engine
