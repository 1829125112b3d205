// Machine code that is slower than the interpreter is withdrawn.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/system/mutex.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {

// Compares the time of a step as machine code with its time before, when its programs were interpreted, and
// withdraws code that is clearly slower. Thread-safe. A step is measured until that is decided.
class KernelTrial {
 public:
  // Returns the time of a steady clock, in nanoseconds.
  using Clock = int64_t (*)();

  // The step has programs in `slots`, which must outlive the trial, and computes `elements`. A small step is
  // not measured, because its time is mostly that of other things.
  KernelTrial(absl::Span<KernelSlot* const> slots, int64_t elements, Clock clock = SteadyNanoseconds)
      : slots_(slots.begin(), slots.end()),
        clock_(clock),
        open_(!slots.empty() && elements >= kElementsMin) {}

  // Runs the step, and counts a run that was of one form from its begin to its end.
  template <typename Run>
  absl::Status Measure(Run run) {
    if (!open_.load(std::memory_order_relaxed)) return run();
    const Form form = FormNow();
    const int64_t start = clock_();
    const absl::Status status = run();
    const int64_t ns = clock_() - start;
    if (status.ok() && form != Form::kMixed && FormNow() == form) Count(form == Form::kAssembled, ns);
    return status;
  }

 private:
  static int64_t SteadyNanoseconds();
  void Count(bool assembled, int64_t ns);

  enum class Form : uint8_t { kInterpreted, kAssembled, kMixed };
  Form FormNow() const;

  static constexpr int64_t kElementsMin = 64 * 1024;
  // The assembled runs after which it decides, and the part of the interpreted time by which they may be
  // slower.
  static constexpr int kRunsBefore = 8;
  static constexpr double kMargin = 0.15;

  const std::vector<KernelSlot*> slots_;
  const Clock clock_;
  std::atomic<bool> open_;
  Mutex mu_;
  int interpreted_runs_ ABSL_GUARDED_BY(mu_) = 0, assembled_runs_ ABSL_GUARDED_BY(mu_) = 0;
  // The shortest times: others were busy during longer ones. The first run of a plan, which finds nothing in
  // the caches and pages that were never touched, does not count.
  int64_t interpreted_ns_ ABSL_GUARDED_BY(mu_) = INT64_MAX, assembled_ns_ ABSL_GUARDED_BY(mu_) = INT64_MAX;
};

}  // namespace hlod::engine
