// A plan's flat code and the loop that runs it. Branches and loops are jumps, so nesting costs nothing, and
// running allocates no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/engine/run/loop_slot.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

inline constexpr int64_t kBufferAlignment = 64;  // The alignment of every buffer in the arena.
inline constexpr int32_t kNoSlot = -1;

// A pointer that a run resolves: bases[base] + offset. Base 0 is null (the offset of a constant is its
// address), 1 is the arena, then come the arguments, then the results.
struct Slot {
  int32_t base = 0;
  int64_t offset = 0;
  int64_t bytes = 0;  // The bytes of the value, or of the memory that a step may use.
};

// One of the code's instructions.
struct CodeInstruction {
  enum class Kind : uint8_t {
    kRun,     // Runs step->Run(table + inputs, table + outputs, table[scratch]).
    kCopy,    // Copies `bytes` bytes from table[inputs] to table[outputs].
    kTest,    // Jumps to `target` when the pred at table[inputs] is false.
    kJump,    // Jumps to `target`; a backward jump checks deadline and cancel.
    kSwitch,  // Jumps to targets[target + selection], of `count`; the selector at table[inputs] is a pred or
              // an s32.
    kLoop,    // The beginning of a loop: its code returns the next position. Without code, goes on.
    kReturn,
  };
  Kind kind = Kind::kRun;
  bool on_pred = false;
  int32_t weight_ns = 0;  // An estimate of its time, which determines how often the clock is read.
  // Positions in the table of pointers. The outputs of a step end before `slots_end`.
  int32_t inputs = 0, outputs = 0, scratch = kNoSlot, slots_end = 0;
  int32_t target = 0, count = 0;
  int32_t op = 0;     // The op that it comes from, by its position in FlatProgram::ops.
  int64_t bytes = 0;  // For kCopy the bytes to copy, for kRun the bytes of all operands.
  const Step* step = nullptr;
  // For kLoop, the outermost loop around it that may become machine code, or null.
  const LoopSlot* loop = nullptr;
};

// The code of a flat program whose buffers are assigned. It points into that program's steps and constants.
struct Code {
  std::vector<CodeInstruction> instructions;
  std::vector<int32_t> targets;  // The targets of switches.
  std::vector<Slot> slots;       // The slots of the table of pointers, which each run resolves once.
  int32_t base_count = 0;        // 2 + arguments + results.
  std::vector<std::unique_ptr<LoopSlot>> loops;  // The places for machine code.

  // Returns the bytes for bases and table in front of the arena, a multiple of kBufferAlignment.
  int64_t TableBytes() const;
};

// Runs the code on `temporary`, which has TableBytes() bytes for the table, then the arena. Returns CANCELLED
// or DEADLINE_EXCEEDED by RunContext, or the error of the first step that fails. Calls `hot` when a loop
// without machine code has run many iterations.
absl::Status Execute(
    const Code& code, absl::Span<const std::byte* const> arguments, absl::Span<std::byte* const> results,
    std::byte* temporary, int threads, RunContext& context, absl::FunctionRef<void()> hot = [] {});

}  // namespace hlod::engine
