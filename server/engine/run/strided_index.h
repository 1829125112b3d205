// Maps a linear index over nested loops to an offset.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace hlod::engine {

// Loops, outermost first; two are joined if a single stride describes both.
class StridedIndex {
 public:
  // Appends an inner loop. Loops of one iteration are dropped.
  void Append(int64_t size, int64_t stride) {
    count_ *= size;
    if (size == 1) return;
    if (!loops_.empty() && loops_.back().stride == stride * size) {
      loops_.back() = {loops_.back().size * size, stride};
    } else {
      loops_.push_back({size, stride});
    }
  }
  int64_t count() const { return count_; }
  // The following describe the loops after joining.
  size_t rank() const { return loops_.size(); }
  int64_t innermost_stride() const { return loops_.empty() ? 0 : loops_.back().stride; }
  int64_t innermost_size() const { return loops_.empty() ? 1 : loops_.back().size; }
  // Removes the innermost loop. REQUIRES: rank() > 0.
  void DropInnermost() {
    count_ = loops_.back().size == 0 ? 0 : count_ / loops_.back().size;
    loops_.pop_back();
  }

  int64_t Offset(int64_t index) const {
    if (loops_.size() == 1) return index * loops_[0].stride;
    int64_t offset = 0;
    for (size_t i = loops_.size(); i-- > 0;) {
      offset += index % loops_[i].size * loops_[i].stride;
      index /= loops_[i].size;
    }
    return offset;
  }

 private:
  struct Loop {
    int64_t size, stride;
  };
  int64_t count_ = 1;
  absl::InlinedVector<Loop, 4> loops_;
};

}  // namespace hlod::engine
