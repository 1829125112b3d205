// The opcodes that slice or update; all others read whole operands.
#include "client/analysis/module/access.h"

namespace hlod::analysis {

Access AccessOf(hlo::Instruction user, uint32_t operand) {
  switch (user.opcode()) {
    case hlo::kSlice:
    case hlo::kDynamicSlice:
    case hlo::kGather: return operand == 0 ? Access::kPart : Access::kWhole;
    case hlo::kDynamicUpdateSlice: return operand == 0 ? Access::kUpdated : Access::kWhole;
    // The operands are arrays, which are updated, then indices and updates.
    case hlo::kScatter: return operand < (user.operand_count() - 1) / 2 ? Access::kUpdated : Access::kWhole;
    default: return Access::kWhole;
  }
}

}  // namespace hlod::analysis
