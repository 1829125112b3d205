// The pool of huge pages that backs all devices.
#include "server/device/memory/backing_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <fstream>

#include "common/base/arithmetic.h"
#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::device {
namespace {

// The number of blocks of a size class to examine before opening another extent.
constexpr int64_t kLooks = 8;
constexpr int64_t kUnit = 64, kExtent = int64_t{2} << 20;
alignas(64) std::byte no_bytes[64];  // The address of empty pieces: engines may use the pointer but never
                                     // read from it.

}  // namespace

bool BackingPool::KernelOvercommits() {
  int mode = 0;
  std::ifstream("/proc/sys/vm/overcommit_memory") >> mode;
  return mode != 2;
}

absl::StatusOr<std::unique_ptr<BackingPool>> BackingPool::Create(int64_t host_bytes, bool open) {
  const int64_t bytes = AlignUp(std::max<int64_t>(host_bytes, kExtent), kExtent);
  // One extent more than needed, so that the base can be aligned to a huge page. Opening extents one by one
  // waits until no thread touches new pages, up to 0.1 s each time beside programs with large results, and
  // all allocations wait for it. But where the kernel does not overcommit, or limits the process's data, a
  // range that is writable counts in full from the start.
  const auto map = [&](int protection) {
    return mmap(nullptr, static_cast<size_t>(bytes + kExtent), protection,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* range = open ? map(PROT_READ | PROT_WRITE) : MAP_FAILED;
  if (range == MAP_FAILED) {
    open = false;
    range = map(PROT_NONE);
  }
  if (range == MAP_FAILED) {
    return ResourceExhausted("The kernel refuses an address range of %d bytes for host_memory.", bytes);
  }
  const auto address = reinterpret_cast<uintptr_t>(range);
  const uintptr_t aligned = (address + kExtent - 1) & ~static_cast<uintptr_t>(kExtent - 1);
  if (aligned != address) munmap(range, aligned - address);
  const uintptr_t end = address + bytes + kExtent;
  if (end != aligned + bytes) munmap(reinterpret_cast<void*>(aligned + bytes), end - aligned - bytes);
  auto* base = reinterpret_cast<std::byte*>(aligned);
  madvise(base, static_cast<size_t>(bytes), MADV_HUGEPAGE);  // Without huge pages, small ones are used.
  madvise(base, static_cast<size_t>(bytes), MADV_DONTFORK);
  return std::unique_ptr<BackingPool>(new BackingPool(base, bytes, open));
}

BackingPool::BackingPool(std::byte* base, int64_t host_bytes, bool open)
    : base_(base), host_bytes_(host_bytes), open_(open) {
  std::fill(std::begin(lists_), std::end(lists_), kNoNode);
}

BackingPool::~BackingPool() { munmap(base_, static_cast<size_t>(host_bytes_)); }

int BackingPool::ClassOf(int64_t units) {
  if (units < 16) return static_cast<int>(units);
  const int log = std::bit_width(static_cast<uint64_t>(units)) - 1;
  return 16 + (log - 4) * 16 + static_cast<int>(units >> (log - 4) & 15);
}

void BackingPool::ReserveNode() {
  if (!spare_nodes_.empty()) return;
  spare_nodes_.reserve(nodes_.size() + 1);
  nodes_.emplace_back();
  spare_nodes_.push_back(static_cast<uint32_t>(nodes_.size() - 1));
}

uint32_t BackingPool::NewNode() {
  const uint32_t node = spare_nodes_.back();
  spare_nodes_.pop_back();
  nodes_[node] = Node{};
  return node;
}

void BackingPool::Link(uint32_t id) {
  Node& node = nodes_[id];
  const int list = ClassOf(node.size);
  node.free = true;
  node.list_before = kNoNode;
  node.list_after = lists_[list];
  if (lists_[list] != kNoNode) nodes_[lists_[list]].list_before = id;
  lists_[list] = id;
  filled_[list / 64] |= uint64_t{1} << (list % 64);
}

void BackingPool::Unlink(uint32_t id) {
  Node& node = nodes_[id];
  const int list = ClassOf(node.size);
  node.free = false;
  if (node.list_before != kNoNode) nodes_[node.list_before].list_after = node.list_after;
  if (node.list_after != kNoNode) nodes_[node.list_after].list_before = node.list_before;
  if (lists_[list] == id) lists_[list] = node.list_after;
  if (lists_[list] == kNoNode) filled_[list / 64] &= ~(uint64_t{1} << (list % 64));
}

uint32_t BackingPool::FindFit(int64_t units, int64_t looks) {
  // First the list of the exact class: programs request the same sizes repeatedly, and get their old blocks
  // back.
  const int own = ClassOf(units);
  uint32_t best = kNoNode;
  int64_t looked = 0;
  for (uint32_t id = lists_[own]; id != kNoNode && looked < looks; id = nodes_[id].list_after, ++looked) {
    if (nodes_[id].size >= units && (best == kNoNode || nodes_[id].size < nodes_[best].size)) best = id;
  }
  if (best != kNoNode) return best;
  // Every block of a later list is large enough.
  const int first = own + 1;
  for (int word = first / 64; word < kClasses / 64; ++word) {
    uint64_t bits = filled_[word];
    if (word == first / 64) bits &= ~uint64_t{0} << (first % 64);
    if (bits != 0) return lists_[word * 64 + std::countr_zero(bits)];
  }
  return kNoNode;
}

bool BackingPool::Grow(int64_t units) {
  const bool last_free = last_ != kNoNode && nodes_[last_].free;
  const int64_t missing = units - (last_free ? nodes_[last_].size : 0);
  const int64_t bytes = AlignUp(missing * kUnit, kExtent);
  if (bytes > host_bytes_ - grown_bytes_) return false;
  if (!open_ && mprotect(base_ + grown_bytes_, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE) != 0)
    return false;
  if (last_free) {
    Unlink(last_);
    nodes_[last_].size += bytes / kUnit;
  } else {
    ReserveNode();
    const uint32_t id = NewNode();
    nodes_[id].offset = grown_bytes_ / kUnit;
    nodes_[id].size = bytes / kUnit;
    nodes_[id].before = last_;
    if (last_ != kNoNode) nodes_[last_].after = id;
    last_ = id;
  }
  grown_bytes_ += bytes;
  Link(last_);
  return true;
}

absl::StatusOr<Piece> BackingPool::Allocate(int64_t bytes) {
  if (bytes == 0) return Piece{no_bytes, 0, kNoNode};
  MutexLock lock(&mu_);
  if (bytes < 0 || bytes > host_bytes_) {
    return MakeError(
        ErrorKind::kNoMemory,
        absl::StrFormat("%d bytes are more than the whole host_memory (%d bytes).", bytes, host_bytes_));
  }
  const int64_t units = (bytes + kUnit - 1) / kUnit;
  uint32_t id = FindFit(units, kLooks);
  if (id == kNoNode && Grow(units)) id = last_;
  if (id == kNoNode) {
    id = FindFit(units, INT64_MAX);  // Search all blocks before refusing.
    if (id == kNoNode) {
      return MakeError(
          ErrorKind::kNoMemory,
          absl::StrFormat(
              "%d bytes do not fit in the backing of the devices: %d of host_memory's %d bytes are in use.",
              bytes, used_units_ * kUnit, host_bytes_));
    }
  }
  if (nodes_[id].size > units) ReserveNode();  // It may throw: nothing is changed yet.
  Unlink(id);
  if (nodes_[id].size > units) {  // The rest becomes a free block after it.
    const uint32_t rest = NewNode();
    Node& node = nodes_[id];
    nodes_[rest].offset = node.offset + units;
    nodes_[rest].size = node.size - units;
    nodes_[rest].before = id;
    nodes_[rest].after = node.after;
    if (node.after != kNoNode) nodes_[node.after].before = rest;
    if (last_ == id) last_ = rest;
    node.after = rest;
    node.size = units;
    Link(rest);
  }
  used_units_ += units;
  return Piece{base_ + nodes_[id].offset * kUnit, bytes, id};
}

void BackingPool::JoinWithNext(uint32_t id) {
  const uint32_t next = nodes_[id].after;
  nodes_[id].size += nodes_[next].size;
  nodes_[id].after = nodes_[next].after;
  if (nodes_[next].after != kNoNode) nodes_[nodes_[next].after].before = id;
  if (last_ == next) last_ = id;
  spare_nodes_.push_back(next);
}

void BackingPool::Free(const Piece& piece) {
  if (piece.data == nullptr || piece.node == kNoNode) return;
  MutexLock lock(&mu_);
  uint32_t id = piece.node;
  used_units_ -= nodes_[id].size;
  const uint32_t after = nodes_[id].after, before = nodes_[id].before;
  if (after != kNoNode && nodes_[after].free) {
    Unlink(after);
    JoinWithNext(id);
  }
  if (before != kNoNode && nodes_[before].free) {
    Unlink(before);
    JoinWithNext(before);
    id = before;
  }
  Link(id);
}

void BackingPool::ReturnFree() {
  MutexLock lock(&mu_);
  for (const uint32_t first : lists_) {
    for (uint32_t id = first; id != kNoNode; id = nodes_[id].list_after) {
      const int64_t begin = AlignUp(nodes_[id].offset * kUnit, kExtent);
      const int64_t end = (nodes_[id].offset + nodes_[id].size) * kUnit / kExtent * kExtent;
      if (begin < end) madvise(base_ + begin, static_cast<size_t>(end - begin), MADV_DONTNEED);
    }
  }
}

int64_t BackingPool::used_bytes() const {
  MutexLock lock(&mu_);
  return used_units_ * kUnit;
}

int64_t BackingPool::grown_bytes() const {
  MutexLock lock(&mu_);
  return grown_bytes_;
}

}  // namespace hlod::device
