// Replaces calls by the instructions of their callees.
#include <algorithm>

#include "common/passes/copy.h"
#include "common/passes/passes.h"

namespace hlod::passes {

using namespace hlo;

namespace {

bool IsCall(Instruction instruction) {
  return instruction.opcode() == kCall || instruction.opcode() == kFusion;
}

// Returns true when running a computation draws from a state. A copy of it would have another state with the
// same start, but all callers must share one state.
bool IsStateful(const Computation& computation, const std::vector<bool>& stateful) {
  for (NodeId id = 0; id < computation.size(); ++id) {
    const Instruction instruction = computation[id];
    if (HasTrait(instruction.opcode(), kStateful)) return true;
    for (const ComputationId callee : instruction.called()) {
      if (stateful[callee]) return true;
    }
  }
  return false;
}

// Copies a callee, whose own calls are inlined already, into its caller. Names may then repeat; printing
// makes them unique. Returns an arbitrary node if it was stopped.
NodeId CopyBody(const Computation& callee, absl::Span<const NodeId> arguments, Computation& caller,
                PassWatch* watch) {
  InstructionCloner cloner(callee, caller);
  for (NodeId id = 0; id < callee.size(); ++id) {
    if (watch != nullptr && watch->Stops()) return 0;
    if (callee[id].opcode() == kParameter) cloner.set_node(id, arguments[callee[id].parameter_number()]);
    else cloner.Clone(id);
  }
  return cloner.node(callee.root_id());
}

}  // namespace

std::unique_ptr<Module> InlineCalls(const Module& module, PassWatch* watch) {
  std::unique_ptr<Module> result = EmptyCopy(module);
  std::vector<ComputationId> computations;
  std::vector<bool> stateful;
  // Nested calls multiply quickly, so inlined instructions are limited for the module as a whole.
  const int64_t most = InlinedInstructionsMax(module.instruction_count());
  int64_t budget = most - std::min(most, module.instruction_count());
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    stateful.push_back(IsStateful(from, stateful));
    ComputationCopy copy(module, from, AddEmptyCopy(*result, from), computations);
    for (NodeId id = 0; id < from.size(); ++id) {
      if (watch != nullptr && watch->Stops()) return nullptr;
      const Instruction instruction = from[id];
      const Computation* callee = IsCall(instruction) && !stateful[instruction.called()[0]]
                                      ? &result->computation(instruction.called()[0])
                                      : nullptr;
      if (callee != nullptr && callee->size() <= budget) {
        budget -= callee->size();
        copy.set_node(id, CopyBody(*callee, copy.operands(instruction), copy.to(), watch));
      } else {
        copy.set_node(id, copy.Clone(instruction));
      }
    }
    // If it was stopped, the root may be an instruction whose body is missing.
    if (watch != nullptr && watch->Stops()) return nullptr;
    copy.to().set_root(copy.node(from.root_id()));
    computations.push_back(c);
  }
  result->set_entry(module.entry_id());
  return result;
}

}  // namespace hlod::passes
