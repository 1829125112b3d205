// Decides when the times of both forms are known.
#include "server/engine/tile/kernel_trial.h"

#include <algorithm>
#include <chrono>

namespace hlod::engine {

int64_t KernelTrial::SteadyNanoseconds() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

KernelTrial::Form KernelTrial::FormNow() const {
  const auto assembled = [](const KernelSlot* slot) { return slot->kernel() != nullptr; };
  if (std::all_of(slots_.begin(), slots_.end(), assembled)) return Form::kAssembled;
  return std::any_of(slots_.begin(), slots_.end(), assembled) ? Form::kMixed : Form::kInterpreted;
}

void KernelTrial::Count(bool assembled, int64_t ns) {
  MutexLock lock(&mu_);
  if (!assembled) {
    if (++interpreted_runs_ > 1) interpreted_ns_ = std::min(interpreted_ns_, ns);
    return;
  }
  assembled_ns_ = std::min(assembled_ns_, ns);
  if (++assembled_runs_ != kRunsBefore) return;
  open_.store(false, std::memory_order_relaxed);
  if (interpreted_ns_ == INT64_MAX ||
      static_cast<double>(assembled_ns_) <= static_cast<double>(interpreted_ns_) * (1 + kMargin)) {
    return;
  }
  for (KernelSlot* const slot : slots_) slot->Withdraw();
}

}  // namespace hlod::engine
