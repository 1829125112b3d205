// The reference semantics of every opcode on literals: written to be obviously correct, not fast. The engine
// is tested against it, and uses it for instructions that it has no code for.
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
  int64_t bytes_max = int64_t{1} << 34;          // The limit on one value: RESOURCE_EXHAUSTED.
  // The counters for rng; null: counters that start with the run. Not owned.
  RandomCounters* random = nullptr;
  // The participant of a program of several that this run is (EvaluateParticipants); null: it runs alone. Not
  // owned.
  const ParticipantRun* participant = nullptr;
  // The channels of infeed, outfeed, send and recv; null: these opcodes are UNIMPLEMENTED. Not owned.
  hlo::Channels* channels = nullptr;
};

// Runs the entry computation of a verified module. `arguments` has one literal per parameter (tuples as tuple
// literals) of compatible shape, else INVALID_ARGUMENT. An argument for a bounded dimension may have any size
// up to the bound, and results have their actual sizes. UNIMPLEMENTED names an opcode, custom-call target or
// dynamic dimension that it cannot run. f8, f4 and sub-byte types are computed in f32 or int; bf16 and f16 in
// f32, rounded after each instruction.
absl::StatusOr<hlo::Literal> Evaluate(const hlo::Module& module,
                                      absl::Span<const hlo::Literal* const> arguments,
                                      const EvaluateOptions& options = {});

// Runs one instruction on given operand values, for constant folding and the engine's reference steps. The
// computations that it calls are those of `module`.
absl::StatusOr<hlo::Literal> EvaluateInstruction(const hlo::Module& module, hlo::Instruction instruction,
                                                 absl::Span<const hlo::Literal* const> operands,
                                                 const EvaluateOptions& options = {});

// Returns true when EvaluateInstruction can run the instruction (for a custom-call: its target).
bool CanEvaluate(hlo::Instruction instruction);

}  // namespace hlod
