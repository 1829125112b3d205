// The digests of the programs that a session has sent, the only ones that it may name without their bytes.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/sha256.h"
#include "server/device/memory/side_memory.h"

namespace hlod::device {

// Bounded: beyond `max` digests the least recently used one is dropped, and that program's bytes must be sent
// again. Not thread-safe.
class RecentDigests {
 public:
  // `share` is charged with the digests; null: they are not charged.
  explicit RecentDigests(size_t max, std::shared_ptr<MemoryShare> share = nullptr)
      : max_(max), held_(std::move(share)) {}

  void Insert(const Digest& digest) {
    if (Use(digest)) return;
    recent_.push_front(digest);
    places_[digest] = recent_.begin();
    held_.Grow(kBytes);
    if (places_.size() <= max_) return;
    places_.erase(recent_.back());
    recent_.pop_back();
    held_.Grow(-kBytes);
  }
  // Returns true when the digest is known, and makes it the most recently used one.
  bool Use(const Digest& digest) {
    const auto found = places_.find(digest);
    if (found == places_.end()) return false;
    recent_.splice(recent_.begin(), recent_, found->second);
    return true;
  }

 private:
  // The bytes per digest: one in the list, and two in the map, which is up to half empty.
  static constexpr int64_t kBytes = 3 * sizeof(Digest) + 6 * sizeof(void*);

  const size_t max_;
  MemoryCharge held_;
  std::list<Digest> recent_;  // The digests, most recently used first.
  absl::flat_hash_map<Digest, std::list<Digest>::iterator> places_;
};

}  // namespace hlod::device
