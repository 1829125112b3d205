// Evaluates a program of several participants: each runs on a thread, and they meet at collectives.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/system/rendezvous.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/collectives/collective.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod {

// A run's role in a program of several participants: their numbers, its own number, and their rendezvous.
struct ParticipantRun {
  Rendezvous* rendezvous = nullptr;  // Not owned.
  hlo::Participants participants;
  int participant = 0;
};

// Runs the entry computation of a verified module once per participant, side by side, with one list of
// arguments per participant. Returns their results, or the error of the participant that failed first, with
// its name.
absl::StatusOr<std::vector<hlo::Literal>> EvaluateParticipants(
    const hlo::Module& module, absl::Span<const std::vector<const hlo::Literal*>> arguments,
    const EvaluateOptions& options = {});

}  // namespace hlod
