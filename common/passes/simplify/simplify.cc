// Applies every rule to every instruction in one forward pass.
#include "common/passes/simplify/simplify.h"

#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool TouchesDynamicDimension(const ComputationCopy& copy, Instruction instruction) {
  if (instruction.shape().HasDynamicDimension()) return true;
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    if (instruction.operand(i).shape().HasDynamicDimension()) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Module> Simplify(const Module& module, PassWatch* watch) {
  return Rewritten(module, watch, [](ComputationCopy& copy, Instruction instruction) {
    // The rules do not consider run-time sizes, so they are not applied to dynamic dimensions.
    const bool fixed = instruction.operand_count() > 0 && !TouchesDynamicDimension(copy, instruction);
    NodeId now = fixed ? SimplifyMovement(copy, instruction) : kUnchanged;
    if (fixed && now == kUnchanged) now = SimplifyArithmetic(copy, instruction);
    if (fixed && now == kUnchanged) now = SimplifyContraction(copy, instruction);
    if (fixed && now == kUnchanged) now = SimplifyReduction(copy, instruction);
    if (fixed && now == kUnchanged) now = SimplifyWindows(copy, instruction);
    return now == kUnchanged ? copy.Clone(instruction) : now;
  });
}

}  // namespace hlod::passes
