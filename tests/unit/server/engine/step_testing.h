// Helpers of the tests of single steps: an instruction in HLO text, run by its step and by the evaluator.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "common/hlo/literal.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

struct StepTestOptions {
  double rtol = 0, atol = 0;              // 0: to the last bit.
  std::map<int, hlo::Literal> arguments;  // Parameters that are not to be samples.
  std::string describe;                   // Must occur in the step's description.
};

// `text` is the entry's instructions, computations before it: parameters, constants and one root, which is
// the instruction to test (or a tuple of its elements). Makes the step, runs it with one thread and with
// three, with outputs of their own and, where it may share, in place; expects the evaluator's values each
// time, and nothing written outside its outputs and scratch.
void ExpectStep(std::string_view text, const StepTestOptions& options = {});

// The results of the step on `arguments`, with `threads`; empty after a failure.
std::vector<hlo::Literal> RunStepText(std::string_view text, const std::vector<hlo::Literal>& arguments,
                                      int threads = 2);

// The step of any factory for one instruction; null when none has one.
MaybeStep MakeStep(const hlo::Module& module, hlo::Instruction instruction, int threads);

}  // namespace hlod::engine
