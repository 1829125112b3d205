// Charges a share of --side-memory for what a compilation takes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "common/base/errors/status.h"
#include "server/device/memory/side_memory.h"

namespace hlod::device {

// A charge that is estimated before the memory is taken, and corrected when more is known. The destructor
// releases it. Not thread-safe.
class CompileCharge {
 public:
  CompileCharge() = default;
  // Charges `share`, or no share when it is null.
  explicit CompileCharge(std::shared_ptr<MemoryShare> share) : charge_(std::move(share)) {}

  // RESOURCE_EXHAUSTED (kind limit) when the share is used up.
  absl::Status Take(int64_t bytes, std::string_view taker) {
    RETURN_IF_ERROR(charge_.TryGrow(bytes, taker));
    bytes_ += bytes;
    return absl::OkStatus();
  }
  // Returns a function for engine::CompileOptions::reserve. It must not outlive this object, which must not
  // be moved meanwhile.
  std::function<absl::Status(int64_t)> reserve() {
    return [this](int64_t bytes) { return Take(bytes, "Memory to compile a program"); };
  }
  int64_t bytes() const { return bytes_; }
  // Makes the charge `bytes`, even beyond the limit: they are in use.
  void CorrectTo(int64_t bytes) {
    charge_.Grow(bytes - bytes_);
    bytes_ = bytes;
  }

 private:
  MemoryCharge charge_;
  int64_t bytes_ = 0;
};

}  // namespace hlod::device
