// A program of several members, run by the evaluator: a thread each, which meet at collectives.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/meeting.h"
#include "common/evaluator/evaluator.h"
#include "common/hlo/collective.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod {

// Which member of a program a run is.
struct MemberRun {
  Meeting* meeting = nullptr;  // Not owned.
  hlo::Members members;
  int member = 0;
};

// Runs the entry computation of a verified module once for each of its members, side by side: one list of
// arguments a member. Their results, or the error of the member that failed first, which names it.
absl::StatusOr<std::vector<hlo::Literal>> EvaluateMembers(
    const hlo::Module& module, absl::Span<const std::vector<const hlo::Literal*>> arguments,
    const EvaluateOptions& options = {});

}  // namespace hlod
