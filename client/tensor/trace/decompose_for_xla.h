// Inverse trigonometric and hyperbolic functions are opcodes that a trace keeps whole, because they have
// simple derivatives, and that XLA's CPU backend does not compile. A program that leaves the trace calls a
// computation of basic operations in their place, so that XLA can run every program.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "common/hlo/module.h"

namespace hlod::lazy {

// Holds the computations in a module that replace such opcodes, one per opcode and shape.
class DecomposeForXla {
 public:
  // `module` must outlive this.
  explicit DecomposeForXla(hlo::Module& module) : module_(module) {}

  // Adds to the module the computations that replace the instructions of `computation`, which has the
  // module's tables.
  void Prepare(const hlo::Computation& computation);
  // Returns the computation to call instead of `instruction`, an instruction of a prepared computation;
  // nullopt if it is copied unchanged.
  std::optional<hlo::ComputationId> Find(hlo::Instruction instruction) const;

 private:
  hlo::Module& module_;
  std::map<std::pair<hlo::Opcode, hlo::ShapeId>, hlo::ComputationId> computations_;
};

}  // namespace hlod::lazy
