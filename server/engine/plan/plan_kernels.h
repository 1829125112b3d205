// The machine code of a plan's steps: when it is made, and how much it may be.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "server/engine/assemble/assembler.h"
#include "server/engine/assemble/assembly_job.h"
#include "server/engine/plan/lowering/lowering.h"

namespace hlod::engine {

// Thread-safe.
class PlanKernels {
 public:
  // With a null assembler, or on a processor that it does not support, steps stay interpreted. The program
  // and its code are parts of `owner`.
  PlanKernels(std::shared_ptr<Assembler> assembler, std::weak_ptr<const void> owner,
              const FlatProgram& program, const Code& code);

  // Must be called at the start of each run. The second one of a user requests machine code.
  void CountRun(AssemblyUser* user) const {
    if (user == nullptr || job_ == nullptr || job_->requested()) return;
    if (runs_.load(std::memory_order_relaxed) >= kRunsBefore) job_->Request(*user);
    else runs_.fetch_add(1, std::memory_order_relaxed);
  }
  // Requests machine code in the first run. Does nothing without a user.
  void RequestAtOnce(AssemblyUser* user) const {
    if (user != nullptr && job_ != nullptr) job_->Request(*user);
  }
  void AssembleNow(AssemblyUser* user) const {
    if (job_ != nullptr) job_->Assemble(user);
  }
  int64_t kernels() const { return job_ == nullptr ? 0 : job_->kernels(); }
  int64_t code_bytes_max() const { return code_bytes_max_; }

 private:
  // The number of runs before the one that requests machine code. Most programs run once (an initialisation),
  // and it would come too late for them.
  static constexpr int kRunsBefore = 1;

  std::shared_ptr<AssemblyJob> job_;  // Null if there is nothing to assemble.
  int64_t code_bytes_max_ = 0;
  mutable std::atomic<int> runs_{0};
};

}  // namespace hlod::engine
