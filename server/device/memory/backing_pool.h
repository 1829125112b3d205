// The memory that backs the simulated devices: one reserved range of addresses, used in 2 MiB extents, on
// huge pages. The pool keeps pages that were touched, because a first touch costs more than a copy, until the
// devices have been unused for a while (ReturnFree).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"

namespace hlod::device {

// Bytes from the pool, aligned to 64. The holder passes it to Free() once.
struct Piece {
  std::byte* data = nullptr;
  int64_t bytes = 0;  // The number of bytes requested.
  uint32_t node = 0;  // Used by the pool; kNoNode for a piece of 0 bytes.
};

// A two-level segregated-fit allocator: free blocks are in lists by size (16 lists per power of two),
// neighbours are joined when freed, all in constant time and in less than a microsecond. The bookkeeping is
// outside of the memory, so that no stray write of a kernel can damage it. Thread-safe.
class BackingPool {
 public:
  // Reserves addresses for `host_bytes` without touching pages: writable from the start if `open` and the
  // kernel permits it, else extent by extent. RESOURCE_EXHAUSTED if the kernel refuses the addresses.
  static absl::StatusOr<std::unique_ptr<BackingPool>> Create(int64_t host_bytes,
                                                             bool open = KernelOvercommits());
  // Returns false for a kernel that sets memory aside for all that a process may write
  // (vm.overcommit_memory 2), so that a pool which is open from the start would keep it from others.
  static bool KernelOvercommits();
  ~BackingPool();
  BackingPool(const BackingPool&) = delete;
  BackingPool& operator=(const BackingPool&) = delete;

  // RESOURCE_EXHAUSTED (kind no_memory) naming the limit when --host-memory has no room.
  absl::StatusOr<Piece> Allocate(int64_t bytes);
  void Free(const Piece& piece);
  // Returns the free pages to the kernel.
  void ReturnFree();

  int64_t host_bytes() const { return host_bytes_; }
  int64_t used_bytes() const;   // The bytes in pieces, each rounded up to a multiple of 64.
  int64_t grown_bytes() const;  // The bytes of the extents used so far.

 private:
  static constexpr uint32_t kNoNode = UINT32_MAX;
  static constexpr int kClasses = 640;
  struct Node {
    int64_t offset = 0, size = 0;                // In units of 64 bytes.
    uint32_t before = kNoNode, after = kNoNode;  // Neighbours by address.
    uint32_t list_before = kNoNode, list_after = kNoNode;
    bool free = false;
  };

  BackingPool(std::byte* base, int64_t host_bytes, bool open);
  static int ClassOf(int64_t units);
  // Makes sure that NewNode finds a node, and that a node which is joined with another can be kept: so that
  // freeing needs no memory. May throw.
  void ReserveNode() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  uint32_t NewNode() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Link(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unlink(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns a free block that is large enough, or kNoNode. Examines at most `looks` blocks of the same size
  // class.
  uint32_t FindFit(int64_t units, int64_t looks) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Grow(int64_t units) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void JoinWithNext(uint32_t node) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Constant after construction.
  std::byte* const base_;
  const int64_t host_bytes_;
  const bool open_;  // True when all extents may be written from the start; else Grow opens them.
  // State below is guarded by mu_.
  mutable Mutex mu_;
  std::vector<Node> nodes_ ABSL_GUARDED_BY(mu_);
  std::vector<uint32_t> spare_nodes_ ABSL_GUARDED_BY(mu_);
  uint32_t lists_[kClasses] ABSL_GUARDED_BY(mu_);
  // One bit per list, set when the list is not empty.
  uint64_t filled_[kClasses / 64] ABSL_GUARDED_BY(mu_) = {};
  uint32_t last_ ABSL_GUARDED_BY(mu_) = kNoNode;  // The node at the highest address.
  int64_t grown_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t used_units_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hlod::device
