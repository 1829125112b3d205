// The reference semantics of every opcode, on literals: obviously correct, never fast. It is the engine's
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
struct ParticipantRun;

struct EvaluateOptions {
  absl::Time deadline = absl::InfiniteFuture();  // Checked in each loop iteration: DEADLINE_EXCEEDED.
  const std::atomic<bool>* cancel = nullptr;     // Checked in each loop iteration: CANCELLED. Not owned.
  int64_t bytes_max = int64_t{1} << 34;          // Limit of one value: RESOURCE_EXHAUSTED.
  RandomCounters* random = nullptr;  // For rng; null: counters that start with the run. Not owned.
  // The participant that this run is, in a program of several (EvaluateParticipants); null: it runs alone.
  // Not owned.
  const ParticipantRun* participant = nullptr;
  // The channels of infeed, outfeed, send and recv; null: these are UNIMPLEMENTED. Not owned.
  hlo::Channels* channels = nullptr;
};

// Runs the entry computation of a verified module. `arguments` has one literal per parameter (tuples as tuple
// literals) of compatible shape, else INVALID_ARGUMENT. An argument for a bounded dimension may have any size
// up to the bound, and results have their actual sizes. UNIMPLEMENTED names an opcode, custom-call target or
// dynamic dimension that it cannot run. f8, f4 and sub-byte types compute through f32 or int; bf16 and f16
// compute in f32 and round after each instruction.
absl::StatusOr<hlo::Literal> Evaluate(const hlo::Module& module,
                                      absl::Span<const hlo::Literal* const> arguments,
                                      const EvaluateOptions& options = {});

// Runs one instruction on operand values, for constant folding and the engine's reference steps. Called
// computations are those of `module`.
absl::StatusOr<hlo::Literal> EvaluateInstruction(const hlo::Module& module, hlo::Instruction instruction,
                                                 absl::Span<const hlo::Literal* const> operands,
                                                 const EvaluateOptions& options = {});

// Returns true when EvaluateInstruction has a rule for it (for a custom-call: for its target).
bool CanEvaluate(hlo::Instruction instruction);

}  // namespace hlod
