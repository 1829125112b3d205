// Where the bytes of simulated devices really lie: one reserved range of addresses, opened in 2 MiB extents,
// on huge pages. What was touched once stays the pool's, because a first touch costs more than a copy, until
// nobody uses the devices for a while (ReturnFree).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"

namespace hlod::device {

// Bytes from the pool, aligned to 64. A value: its holder gives it back once.
struct Piece {
  std::byte* data = nullptr;
  int64_t bytes = 0;  // As asked for.
  uint32_t node = 0;  // The pool's own; kNoNode for no bytes.
};

// A two-level segregated fit: free blocks hang in lists by size (16 lists a power of two), neighbours join
// when freed, all in constant time and below a microsecond. The book-keeping lies outside of the memory, so
// no kernel's stray write can damage it. Thread-safe.
class BackingPool {
 public:
  // Reserves addresses for `host_bytes`; touches nothing. RESOURCE_EXHAUSTED when the kernel refuses.
  static absl::StatusOr<std::unique_ptr<BackingPool>> Create(int64_t host_bytes);
  ~BackingPool();
  BackingPool(const BackingPool&) = delete;
  BackingPool& operator=(const BackingPool&) = delete;

  // RESOURCE_EXHAUSTED (kind no_memory) naming the limit when --host-memory does not have it.
  absl::StatusOr<Piece> Allocate(int64_t bytes);
  void Free(const Piece& piece);
  // Gives the pages of what is free back to the kernel.
  void ReturnFree();

  int64_t host_bytes() const { return host_bytes_; }
  int64_t used_bytes() const;   // In pieces, rounded up to 64 each.
  int64_t grown_bytes() const;  // Opened so far.

 private:
  static constexpr uint32_t kNoNode = UINT32_MAX;
  static constexpr int kClasses = 640;
  struct Node {
    int64_t offset = 0, size = 0;                // In units of 64 bytes.
    uint32_t before = kNoNode, after = kNoNode;  // Neighbours by address.
    uint32_t list_before = kNoNode, list_after = kNoNode;
    bool free = false;
  };

  BackingPool(std::byte* base, int64_t host_bytes);
  static int ClassOf(int64_t units);
  uint32_t NewNode() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Link(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unlink(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A free block that is large enough, or kNoNode; looks at no more than so many of the same size class.
  uint32_t FindFit(int64_t units, int64_t looks) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Grow(int64_t units) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void JoinWithNext(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  std::byte* const base_;
  const int64_t host_bytes_;
  // State below is guarded by mu_.
  mutable Mutex mu_;
  std::vector<Node> nodes_ ABSL_GUARDED_BY(mu_);
  std::vector<uint32_t> spare_nodes_ ABSL_GUARDED_BY(mu_);
  uint32_t lists_[kClasses] ABSL_GUARDED_BY(mu_);
  uint64_t filled_[kClasses / 64] ABSL_GUARDED_BY(mu_) = {};  // A bit a list that is not empty.
  uint32_t last_ ABSL_GUARDED_BY(mu_) = kNoNode;              // The node at the highest address.
  int64_t grown_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t used_units_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hlod::device
