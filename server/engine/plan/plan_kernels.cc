// Leaves the programs of a plan to the assembler at its second run.
#include "server/engine/plan/plan_kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/engine/run/code.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {

PlanKernels::PlanKernels(std::shared_ptr<Assembler> assembler, const FlatProgram& program, const Code& code)
    : assembler_(std::move(assembler)) {
  if (assembler_ == nullptr || !Assembler::Supported()) return;
  std::vector<KernelSlot*> slots;
  for (const Op& op : program.ops) {
    if (op.step == nullptr) continue;
    for (KernelSlot* const slot : op.step->kernel_slots()) {
      slots.push_back(slot);
      code_bytes_max_ += slot->code_bytes_max();
    }
  }
  std::reverse(slots.begin(), slots.end());
  for (const std::unique_ptr<LoopSlot>& loop : code.loops) code_bytes_max_ += loop->code_bytes_max();
  if (!slots.empty()) job_ = std::make_shared<AssemblyJob>(std::move(slots), code);
}

PlanKernels::~PlanKernels() {
  if (job_ != nullptr) job_->Cancel();
}

void PlanKernels::Request() const {
  if (runs_.fetch_add(1, std::memory_order_relaxed) + 1 != kRunsBefore) return;
  // A plan that was assembled when it was compiled asks for no more.
  if (assembler_->options().at_once) return;
  // When too many plans wait, a later run asks again.
  if (!assembler_->Request(job_)) runs_.store(kRunsBefore - 1, std::memory_order_relaxed);
}

void PlanKernels::RequestAtOnce() const {
  if (job_ == nullptr || assembler_->options().at_once) return;
  int runs = runs_.load(std::memory_order_relaxed);
  while (runs < kRunsBefore) {
    if (!runs_.compare_exchange_weak(runs, kRunsBefore, std::memory_order_relaxed)) continue;
    if (!assembler_->Request(job_)) runs_.store(kRunsBefore - 1, std::memory_order_relaxed);
    return;
  }
}

void PlanKernels::AssembleNow() const {
  if (job_ != nullptr) assembler_->Assemble(*job_);
}

}  // namespace hlod::engine
