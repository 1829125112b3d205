// Copies a module over fresh Tables: every shape, attribute and literal that it uses is interned again.
#include "common/hlo/instruction_cloner.h"

namespace hlod::hlo {

std::unique_ptr<Module> Clone(const Module& module) {
  auto clone = std::make_unique<Module>(module.name());
  Translation translation(module.tables(), clone->tables());
  for (ComputationId c = 0; c < module.computation_count(); ++c) {
    const Computation& from = module.computation(c);
    Computation& to = clone->AddComputation(from.name());
    to.config = from.config;
    InstructionCloner(from, to, {.translation = &translation}).CloneAll();
  }
  clone->set_entry(module.entry_id());
  clone->config = module.config;
  return clone;
}

}  // namespace hlod::hlo
