// Buffer assignment: which memory each value of a program gets. Values whose lifetimes allow it share a
// buffer, so that updates happen in place, loops carry their state in fixed memory, and results are computed
// where the caller wants them; the buffers that are nobody's are packed into one arena of temporaries.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/passes/passes.h"
#include "server/engine/plan/lowering.h"

namespace hlod::engine {

// Where a buffer lies: in the arena at `offset`, or in argument, result or constant `index`.
struct Place {
  Space space = Space::kTemporary;
  int32_t index = kNone;
  int64_t offset = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// Copies `bytes` from one buffer to another.
struct BufferCopy {
  int32_t from = 0, to = 0;  // In Assignment::places.
  int64_t bytes = 0;
};

struct Assignment {
  std::vector<int32_t> buffer;  // ValueId -> its place in `places`.
  std::vector<Place> places;
  // For the moves of op i: copies[copy_begin[i] .. copy_begin[i + 1]), in an order that overwrites nothing
  // still to be read. Moves between values that share a buffer need none.
  std::vector<int32_t> copy_begin;
  std::vector<BufferCopy> copies;
  std::vector<int64_t> scratch_offset;  // Of op i's step in the arena; -1 when it needs none.
  int64_t arena_bytes = 0;
};

// RESOURCE_EXHAUSTED when the arena's size overflows; the watch's error when it was stopped.
absl::StatusOr<Assignment> AssignBuffers(const FlatProgram& program, PassWatch* watch = nullptr);

// Plays the program symbolically, each value as a tag on the bytes it was written to, and INTERNAL when an op
// would read bytes that hold another value, write what it may not, or overlap its own operands in a way that
// its step does not allow. Independent of how the assignment was made. Loops turn `turns` times, switches
// take branch `branch` (modulo their number).
absl::Status CheckAssignment(const FlatProgram& program, const Assignment& assignment, int turns, int branch);

}  // namespace hlod::engine
