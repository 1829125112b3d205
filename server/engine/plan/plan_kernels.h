// The machine code of a plan's steps: when it is made, and how much it may be.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/engine/assemble/assembler.h"
#include "server/engine/plan/lowering/lowering.h"

namespace hlod::engine {

// Thread-safe.
class PlanKernels {
 public:
  // With a null assembler, or on a processor that it does not support, steps stay interpreted. The program
  // and its code must outlive this object.
  PlanKernels(std::shared_ptr<Assembler> assembler, const FlatProgram& program, const Code& code);
  ~PlanKernels();
  PlanKernels(const PlanKernels&) = delete;
  PlanKernels& operator=(const PlanKernels&) = delete;

  // Must be called at the start of each run. The second one requests machine code.
  void CountRun() const {
    if (job_ != nullptr && runs_.load(std::memory_order_relaxed) < kRunsBefore) Request();
  }
  // Requests machine code in the first run.
  void RequestAtOnce() const;
  void AssembleNow() const;
  int64_t kernels() const { return job_ == nullptr ? 0 : job_->kernels(); }
  int64_t code_bytes_max() const { return code_bytes_max_; }

 private:
  // Most programs run once (an initialisation), and machine code would come too late for them.
  static constexpr int kRunsBefore = 2;
  void Request() const;

  const std::shared_ptr<Assembler> assembler_;
  std::shared_ptr<AssemblyJob> job_;  // Null if there is nothing to assemble.
  int64_t code_bytes_max_ = 0;
  mutable std::atomic<int> runs_{0};
};

}  // namespace hlod::engine
