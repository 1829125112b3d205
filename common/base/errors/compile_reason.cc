// The names of reasons, from their table.
#include "common/base/errors/compile_reason.h"

namespace hlod {

std::string_view Name(CompileReason reason) {
  switch (reason) {
#define HLOD_COMPILE_REASON(id, number, text, meaning) \
  case CompileReason::id:                              \
    return text;
#include "common/base/errors/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
  }
  return "unsaid";
}

CompileReason CompileReasonFromNumber(int number) {
  switch (number) {
#define HLOD_COMPILE_REASON(id, number, text, meaning) case number:
#include "common/base/errors/compile_reasons.inc"
#undef HLOD_COMPILE_REASON
    return static_cast<CompileReason>(number);
    default: return CompileReason::kUnsaid;
  }
}

std::string_view Remedy(CompileReason reason) {
  switch (reason) {
    case CompileReason::kUnsaid:
    case CompileReason::kFirst: break;
    case CompileReason::kParameter:
      return "Keep shapes and types the same from step to step: pad to a few sizes, drop or pad the last "
             "batch, use a buffer of the full length and a mask in place of a slice that grows.";
    case CompileReason::kConstant:
      return "Pass what changes as a tensor or as an operand of an operation, so that its value "
             "is no part of the program.";
    case CompileReason::kOperation:
      return "Make each step record the same operations on the same shapes: an if or a loop on the host that "
             "depends on the step makes another program. A slice that grows shares one program for many "
             "sizes if its operations have such a form: let no tensor of its size be alive at the end of "
             "the step, or use a buffer of the full length and a mask.";
    case CompileReason::kResult: return "Keep the same tensors alive at the end of each step.";
    case CompileReason::kDonation:
      return "Keep the same tensors alive, or donate the same arguments, in each step.";
    case CompileReason::kOption: return "Keep shardings, aliases and options of the program the same.";
    case CompileReason::kNames: return "Give operations the same names: only names differ.";
    case CompileReason::kAgain:
      return "Keep the program: compile it once, outside of the loop (JAX compiles a new function object, as a "
             "lambda in a loop is, each time; PyTorch/XLA compiles for each read of a sharded tensor: read it "
             "less often), or make fewer programs, as only the last ones are kept.";
  }
  return "Make the program of each step the same.";
}

}  // namespace hlod
