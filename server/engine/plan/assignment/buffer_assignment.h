// Buffer assignment determines the memory of each value of a program. Values whose lifetimes allow it share a
// buffer, so that updates happen in place, loops carry their state in fixed memory, and results are computed
// in the caller's memory. The remaining buffers are packed into one arena of temporaries.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/passes/passes.h"
#include "server/engine/plan/lowering/lowering.h"

namespace hlod::engine {

// The location of a buffer: in the arena at `offset`, or in argument, result or constant `index`.
struct BufferLocation {
  Space space = Space::kTemporary;
  int32_t index = kNone;
  int64_t offset = 0;
  friend bool operator==(const BufferLocation&, const BufferLocation&) = default;
};

// Copies `bytes` from one buffer to another.
struct BufferCopy {
  int32_t from = 0, to = 0;  // Indices into Assignment::places.
  int64_t bytes = 0;
};

struct Assignment {
  std::vector<int32_t> buffer;  // By ValueId, the index of its place in `places`.
  std::vector<BufferLocation> places;
  // The copies for the moves of op i are copies[copy_begin[i] .. copy_begin[i + 1]), in an order that
  // overwrites no bytes still to be read. Moves between values that share a buffer need no copy.
  std::vector<int32_t> copy_begin;
  std::vector<BufferCopy> copies;
  // By op, the offset of its step's scratch in the arena; -1 if it needs none.
  std::vector<int64_t> scratch_offset;
  int64_t arena_bytes = 0;
};

// Returns RESOURCE_EXHAUSTED when the arena's size overflows, and the watch's error when the watch stopped
// it.
absl::StatusOr<Assignment> AssignBuffers(const FlatProgram& program, passes::PassWatch* watch = nullptr);

// Runs the program symbolically: each value is a tag on the bytes that it was written to. Returns INTERNAL
// when an op would read bytes that hold another value, write bytes that it may not write, or overlap its own
// operands in a way that its step does not allow. The check does not depend on how the assignment was made.
// Loops run `iterations` iterations, and switches take branch `branch` (modulo the number of their branches).
absl::Status CheckAssignment(const FlatProgram& program, const Assignment& assignment, int iterations,
                             int branch);

}  // namespace hlod::engine
