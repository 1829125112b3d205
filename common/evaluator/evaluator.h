// The reference semantics of every opcode, on literals: obviously right, never fast. It is the engine's
// oracle and its fallback.
#pragma once

#include <atomic>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod {

namespace hlo {
class Channels;
}
class RandomCounters;
struct MemberRun;

struct EvaluateOptions {
  absl::Time deadline = absl::InfiniteFuture();  // Looked at in each loop turn: DEADLINE_EXCEEDED.
  const std::atomic<bool>* cancel = nullptr;     // Looked at in each loop turn: CANCELLED. Not owned.
  int64_t bytes_max = int64_t{1} << 34;          // Of one value: RESOURCE_EXHAUSTED.
  RandomCounters* random = nullptr;  // What rng draws by; null: counters that start with the run. Not owned.
  // Which one it is of a program of several (EvaluateMembers); null: it runs alone. Not owned.
  const MemberRun* member = nullptr;
  // Where infeed, outfeed, send and recv take values from and put them; null: they are UNIMPLEMENTED. Not
  // owned.
  hlo::Channels* channels = nullptr;
};

// Runs the entry computation of a verified module. `arguments`: one literal a parameter (tuples as tuple
// literals), shapes compatible, else INVALID_ARGUMENT; where a parameter has a bounded dimension, of any size
// up to the bound, and results have their actual sizes. UNIMPLEMENTED names an opcode, custom-call target or
// dynamic dimension that it cannot run. f8, f4 and sub-byte types compute through f32 or int; bf16 and f16
// compute in f32 and round after each instruction.
absl::StatusOr<hlo::Literal> Evaluate(const hlo::Module& module,
                                      absl::Span<const hlo::Literal* const> arguments,
                                      const EvaluateOptions& options = {});

// One instruction on operand values: constant folding and the engine's reference steps. Called computations
// are looked up in `module`.
absl::StatusOr<hlo::Literal> EvaluateInstruction(const hlo::Module& module, hlo::Instruction instruction,
                                                 absl::Span<const hlo::Literal* const> operands,
                                                 const EvaluateOptions& options = {});

// Whether EvaluateInstruction has a rule for it (for the custom-calls: for its target).
bool CanEvaluate(hlo::Instruction instruction);

}  // namespace hlod
