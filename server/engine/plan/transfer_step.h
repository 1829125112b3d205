// Infeed, outfeed, send and recv: steps that use the run's channels.
#pragma once

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

// A step for an instruction with a channel (hlo::IsTransfer). INVALID_ARGUMENT as hlo::ReadTransfer.
absl::StatusOr<std::unique_ptr<Step>> MakeTransferStep(const hlo::Module& module,
                                                       hlo::Instruction instruction);

}  // namespace hlod::engine
