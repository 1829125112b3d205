// Opcodes that a trace keeps whole, because they have simple derivatives, and that XLA's CPU backend does not
// compile: inverse trigonometric and hyperbolic functions. A program that leaves the trace calls a
// computation of basic operations in their place, so that every program is one that XLA runs.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "common/hlo/module.h"

namespace hlod::lazy {

// The computations of one module that stand for such opcodes, one for each opcode and shape.
class DecomposeForXla {
 public:
  // `module` must outlive this.
  explicit DecomposeForXla(hlo::Module& module) : module_(module) {}

  // Adds to the module what stands for the instructions of `computation`, which has the module's tables.
  void Prepare(const hlo::Computation& computation);
  // What to call in place of `instruction`, of a prepared computation; nothing when it is to be copied.
  std::optional<hlo::ComputationId> Find(hlo::Instruction instruction) const;

 private:
  hlo::Module& module_;
  std::map<std::pair<hlo::Opcode, hlo::ShapeId>, hlo::ComputationId> computations_;
};

}  // namespace hlod::lazy
