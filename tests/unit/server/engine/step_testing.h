// Helpers of the tests of single steps: they run an instruction in HLO text by its step and by the evaluator.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/hlo/literal.h"
#include "server/engine/contraction/products.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

struct StepTestOptions {
  double rtol = 0, atol = 0;              // The tolerances; 0 compares to the last bit.
  std::map<int, hlo::Literal> arguments;  // Arguments by parameter number; other parameters get samples.
  std::string describe;                   // A text that the step's description must contain.
  std::optional<ProductLibrary> library;  // Computes the product of a dot, where it can.
};

// Tests the step of one instruction. `text` has computations, then the entry: parameters, constants and one
// root, which is the instruction to test (or a tuple of its elements). Runs the step with one thread and with
// three, with separate outputs and, where it may share memory, in place. Expects the evaluator's values each
// time, and no writes outside its outputs and scratch.
void ExpectStep(std::string_view text, const StepTestOptions& options = {});

// Returns the results of the step on `arguments`, with `threads`; empty after a failure.
std::vector<hlo::Literal> RunStepText(std::string_view text, const std::vector<hlo::Literal>& arguments,
                                      int threads = 2, std::optional<ProductLibrary> library = std::nullopt);

// Returns the step that a factory makes for an instruction; null when it makes none.
MaybeStep MakeStep(const hlo::Module& module, hlo::Instruction instruction, int threads,
                   std::optional<ProductLibrary> library = std::nullopt);

}  // namespace hlod::engine
