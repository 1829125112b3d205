// opt-barriers are not needed any more when no later pass merges or moves instructions.
#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

std::unique_ptr<hlo::Module> RemoveBarriers(const hlo::Module& module, PassWatch* watch) {
  return Rewritten(module, watch, [](ComputationCopy& copy, hlo::Instruction instruction) {
    if (instruction.opcode() != hlo::kOptBarrier) return copy.Clone(instruction);
    return copy.node(instruction.operands()[0]);
  });
}

}  // namespace hlod::passes
