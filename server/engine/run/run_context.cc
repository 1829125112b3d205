// Looking at cancel and deadline.
#include "server/engine/run/run_context.h"

#include "absl/time/clock.h"
#include "common/base/status.h"

namespace hlod::engine {
bool StopCheck::MustStop(const RunContext& run) {
  return IsCancelled(run) || (run.deadline != absl::InfiniteFuture() && absl::Now() >= run.deadline);
}

absl::Status StopCheck::Verdict(const RunContext& run) {
  if (IsCancelled(run)) return Cancelled("The program was cancelled while it ran.");
  if (MustStop(run)) return DeadlineExceeded("The deadline passed while the program ran.");
  return absl::OkStatus();
}

}  // namespace hlod::engine
