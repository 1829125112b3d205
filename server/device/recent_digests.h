// The programs that a session has sent, by digest: the only ones it may name without their bytes.
#pragma once

#include <cstddef>
#include <list>

#include "absl/container/flat_hash_map.h"
#include "common/base/sha256.h"

namespace hlod::device {

// Bounded: beyond `max` digests the one that was longest not used is forgotten, and its program's bytes have
// to be sent again. Not thread-safe.
class RecentDigests {
 public:
  explicit RecentDigests(size_t max) : max_(max) {}

  void Insert(const Digest& digest) {
    if (Use(digest)) return;
    recent_.push_front(digest);
    places_[digest] = recent_.begin();
    if (places_.size() <= max_) return;
    places_.erase(recent_.back());
    recent_.pop_back();
  }
  // Whether it is known; it then becomes the most recently used one.
  bool Use(const Digest& digest) {
    const auto found = places_.find(digest);
    if (found == places_.end()) return false;
    recent_.splice(recent_.begin(), recent_, found->second);
    return true;
  }

 private:
  const size_t max_;
  std::list<Digest> recent_;  // Most recently used first.
  absl::flat_hash_map<Digest, std::list<Digest>::iterator> places_;
};

}  // namespace hlod::device
