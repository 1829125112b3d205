// Collects the programs and loops of a plan.
#include "server/engine/plan/plan_kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/engine/run/code.h"
#include "server/engine/tile/kernel.h"

namespace hlod::engine {

PlanKernels::PlanKernels(std::shared_ptr<Assembler> assembler, std::weak_ptr<const void> owner,
                         const FlatProgram& program, const Code& code) {
  if (assembler == nullptr || !Assembler::Supported()) return;
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
  if (slots.empty()) return;
  job_ = std::make_shared<AssemblyJob>(std::move(assembler), std::move(owner), std::move(slots), code);
}

}  // namespace hlod::engine
