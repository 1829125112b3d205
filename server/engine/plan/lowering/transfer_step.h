// Steps for infeed, outfeed, send and recv, which use the run's channels.
#pragma once

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// Returns a step for an instruction with a channel (hlo::IsTransfer), or INVALID_ARGUMENT as
// hlo::ReadTransfer does.
absl::StatusOr<std::unique_ptr<Step>> MakeTransferStep(const hlo::Module& module,
                                                       hlo::Instruction instruction);

}  // namespace hlod::engine
