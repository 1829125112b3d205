// Replaces calls that name a LAPACK routine (common/lapack/routine_call.h) by custom calls of it.
#include "common/passes/expand/use_routines.h"

#include <vector>

#include "common/lapack/routine_call.h"
#include "common/passes/copy.h"

namespace hlod::passes {

using namespace hlo;

namespace {

constexpr uint32_t kAll = ~uint32_t{0};

// Returns the used elements of each tuple as bits.
std::vector<uint32_t> UsedElements(const Computation& computation) {
  std::vector<uint32_t> used(computation.size(), 0);
  used[computation.root_id()] = kAll;
  for (NodeId id = 0; id < computation.size(); ++id) {
    const Instruction instruction = computation[id];
    uint32_t elements = kAll;
    if (instruction.opcode() == kGetTupleElement) {
      const int64_t index = instruction.attributes<TupleIndexAttributes>().index;
      if (index < 32) elements = uint32_t{1} << index;
    }
    for (const NodeId operand : instruction.operands()) used[operand] |= elements;
  }
  return used;
}

}  // namespace

bool HasRoutines(const Module& module) {
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (lapack::RoutineOf(computation[id])) return true;
    }
  }
  return false;
}

std::unique_ptr<Module> UseRoutines(const Module& module, PassWatch* watch) {
  const std::unique_ptr<Module> live = RemoveDead(module, watch);
  if (live == nullptr) return nullptr;
  const Computation* counted = nullptr;
  std::vector<uint32_t> used;
  return Rewritten(*live, watch, [&](ComputationCopy& copy, Instruction instruction) {
    std::optional<CustomCallAttributes> routine = lapack::RoutineOf(instruction);
    if (!routine) return copy.Clone(instruction);
    if (counted != &instruction.computation()) {
      counted = &instruction.computation();
      used = UsedElements(*counted);
    }
    const std::optional<lapack::ValuesOnly> only = lapack::ValuesOnlyOf(*routine);
    if (only && (used[instruction.id()] & ~only->results) == 0) routine = only->routine;
    return copy.Replace(instruction, kCustomCall, instruction.shape_id(), *routine,
                        copy.operands(instruction));
  });
}

}  // namespace hlod::passes
