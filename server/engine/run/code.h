// A plan's flat code and the loop that runs it. Branches and loops are jumps, so nesting costs nothing and
// nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/engine/run/step.h"

namespace hlod::engine {

inline constexpr int64_t kBufferAlignment = 64;  // Of every buffer in the arena.
inline constexpr int32_t kNoSlot = -1;

// A pointer that a run resolves: bases[base] + offset. Base 0 is null (the offset of a constant is its
// address), 1 the arena, then the arguments, then the results.
struct Slot {
  int32_t base = 0;
  int64_t offset = 0;
};

// One of the code's instructions.
struct CodeInstruction {
  enum class Kind : uint8_t {
    kRun,     // step->Run(table + inputs, table + outputs, table[scratch]).
    kCopy,    // table[inputs] -> table[outputs], `bytes` bytes.
    kTest,    // Goes to `target` when the pred at table[inputs] is false.
    kJump,    // Goes to `target`; a backward one looks at deadline and cancel.
    kSwitch,  // Goes to targets[target + selection], of `count`; the selector at table[inputs] is a pred or
              // an s32.
    kReturn,
  };
  Kind kind = Kind::kRun;
  bool on_pred = false;
  int32_t weight_ns = 0;  // Roughly how long it takes: how often the clock is read depends on it.
  int32_t inputs = 0, outputs = 0, scratch = kNoSlot;  // In the table of pointers.
  int32_t target = 0, count = 0;
  int64_t bytes = 0;  // kCopy: to copy. kRun: of all operands.
  const Step* step = nullptr;
};

// The code of a flat program whose buffers are assigned. Points into that program's steps and constants.
struct Code {
  std::vector<CodeInstruction> instructions;
  std::vector<int32_t> targets;  // Of switches.
  std::vector<Slot> slots;       // The table of pointers, to be resolved once a run.
  int32_t base_count = 0;        // 2 + arguments + results.

  // Memory for bases and table in front of the arena, a multiple of kBufferAlignment.
  int64_t TableBytes() const;
};

// Runs the code on `temporary`: TableBytes() bytes for the table, then the arena. CANCELLED and
// DEADLINE_EXCEEDED as RunContext says; else the first failing step's error.
absl::Status Execute(const Code& code, absl::Span<const std::byte* const> arguments,
                     absl::Span<std::byte* const> results, std::byte* temporary, int threads,
                     RunContext& context);

}  // namespace hlod::engine
