// Handles that a program no longer refers to. They are freed together: with the next command, or at once when
// they are many or large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace hlod::runtime {

// Not thread-safe.
class DroppedHandles {
 public:
  // Handles that together hold this many bytes are freed at once.
  static constexpr int64_t kBytesMax = 64 << 10;

  void Add(uint64_t handle, int64_t bytes);
  // Adds a handle that is freed only if command `execute`, to which it was donated, fails.
  void AddDonated(uint64_t execute, uint64_t handle, int64_t bytes);
  // Must be called when a command is done: handles that were donated to it are then gone or, if it failed,
  // dropped.
  void CommandIsDone(uint64_t command, bool failed);

  bool empty() const { return handles_.empty(); }
  // Returns true when the handles must be freed now, and not with another command.
  bool MustFree() const;
  // Removes and returns as many handles as one Free may name.
  std::vector<uint64_t> Take();
  void Clear();

 private:
  struct Dropped {
    uint64_t handle;
    int64_t bytes;
  };
  std::vector<uint64_t> handles_;
  int64_t bytes_ = 0;  // The bytes that they hold.
  // Handles that were donated to an execute under way, by its id.
  absl::flat_hash_map<uint64_t, std::vector<Dropped>> donated_;
};

}  // namespace hlod::runtime
