// XLA's short form of asynchronous instructions that wrap a single instruction: "negate-start(x)" for an
// async-start whose computation negates its parameter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/hlo/module.h"

namespace hlod::hlo::text {

// Finds the computations of a module that are not printed, because the only async-start that calls them has
// the short form.
class AsyncForms {
 public:
  explicit AsyncForms(const Module& module);

  bool IsFolded(ComputationId id) const { return folded_[id]; }
  // Returns the instruction that an async-start, async-update or async-done of the short form wraps; nullopt
  // for all others.
  std::optional<Instruction> Wrapped(Instruction half) const;
  // Returns "negate-start", or the opcode's own name for instructions without a short form.
  std::string OpcodeText(Instruction instruction) const;

 private:
  const Module& module_;
  std::vector<bool> folded_;
};

}  // namespace hlod::hlo::text
