// Bytes of one kind that a session may have under way at once.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/error.h"
#include "common/base/status.h"

namespace hlod::device {

// Not thread-safe.
class ByteBudget {
 public:
  // `what` says in messages what the bytes are of: "that are under way".
  ByteBudget(int64_t max, std::string_view limit, std::string_view what)
      : max_(max), limit_(limit), what_(what) {}

  // Takes the bytes until Release. RESOURCE_EXHAUSTED (kind limit) naming `taker`, the bytes and the limit.
  absl::Status Reserve(int64_t bytes, std::string_view taker) {
    if (bytes > max_ - used_) {
      return MakeError(ErrorKind::kLimit, absl::StrFormat("%s of %d bytes beside %d %s: the limit %s is %d.",
                                                          taker, bytes, used_, what_, limit_, max_));
    }
    used_ += bytes;
    return absl::OkStatus();
  }
  void Release(int64_t bytes) { used_ -= bytes; }
  int64_t used() const { return used_; }

 private:
  const int64_t max_;
  const std::string_view limit_, what_;
  int64_t used_ = 0;
};

}  // namespace hlod::device
