// Describes a step that only copies a few contiguous bytes: the machine code of a loop does this itself, instead
// of calling the step.
#pragma once

#include <cstdint>
#include <vector>

namespace hlod::engine {

struct StepCopies {
  // The limits beyond which a call costs little beside the copies.
  static constexpr int64_t kBytesMax = 512;
  static constexpr size_t kCopiesMax = 8;

  // Moves one end of all copies by `stride` bytes times an s32 or s64 in memory.
  struct Index {
    int input = 0;
    int64_t position = 0;  // The distance from the beginning of the input, in bytes.
    bool wide = false;     // True for s64.
    int64_t last = 0;      // The largest value; the smallest is 0.
    int64_t stride = 0;
  };
  struct Copy {
    int input = 0;
    int64_t from = 0, to = 0, bytes = 0;
  };

  std::vector<Index> indices;
  // True if the indices move the targets, and the other bytes of the output are those of input 0.
  bool updates = false;
  // True if nothing is copied for an index out of range; else it is clamped.
  bool checked = false;
  std::vector<Copy> copies;
};

}  // namespace hlod::engine
