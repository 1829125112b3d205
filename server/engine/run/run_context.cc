// Checks cancel and deadline.
#include "server/engine/run/run_context.h"

#include <cstring>

#include "absl/time/clock.h"
#include "common/base/errors/status.h"

namespace hlod::engine {

bool StopCheck::IsLate(const RunContext& run) { return absl::Now() >= run.deadline; }

absl::Status StopCheck::WhyStopped(const RunContext& run) {
  if (IsCancelled(run)) return Cancelled("The program was cancelled while it ran.");
  return DeadlineExceeded("The deadline passed while the program ran.");
}

absl::Status CopyBytes(const std::byte* from, std::byte* to, int64_t bytes, const RunContext& run) {
  constexpr int64_t kPiece = 4 << 20;  // Takes about a millisecond.
  for (; bytes > kPiece; bytes -= kPiece, from += kPiece, to += kPiece) {
    std::memcpy(to, from, static_cast<size_t>(kPiece));
    RETURN_IF_ERROR(StopCheck::Verdict(run));
  }
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return absl::OkStatus();
}

}  // namespace hlod::engine
