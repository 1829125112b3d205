// Counts the random instructions of a module.
#include "common/hlo/elements/random_key.h"

namespace hlod::hlo {

uint64_t RandomKey(const Module& module, Instruction rng) {
  uint64_t n = 0;
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& computation = module.computation(c);
    for (NodeId id = 0; id < computation.size(); ++id) {
      if (computation[id].opcode() != kRng) continue;
      if (&computation == &rng.computation() && id == rng.id()) return RandomKey(n);
      ++n;
    }
  }
  return RandomKey(n);
}

}  // namespace hlod::hlo
