// The device memory of a run over time, computed from its events: what each buffer held from when to when.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/saturated.h"
#include "hlod/observe/profile.h"

namespace hlod::report {

// The purposes that memory is held for.
enum class MemoryKind : uint8_t { kUploads, kResults, kBackward, kTemporaries };
inline constexpr size_t kMemoryKinds = 4;
std::string_view Name(MemoryKind kind);

struct LiveBuffer {
  // The program's name for it, "result of step (train.cc:7)", "temporaries of step"; may be empty.
  std::string name;
  MemoryKind kind = MemoryKind::kResults;
  std::string shape;
  int64_t bytes = 0;
  std::string origin;  // "train.cc:88"
  double since_us = 0;
};

struct MemoryPoint {
  double at_us = 0;
  std::array<int64_t, kMemoryKinds> by_kind{};

  int64_t bytes() const {
    int64_t sum = 0;
    for (const int64_t bytes : by_kind) AddSaturated(sum, bytes);
    return sum;
  }
};

struct Memory {
  std::vector<MemoryPoint> points;  // One point per change; the value holds until the next.
  int64_t peak_bytes = 0;
  double peak_us = 0;
  std::vector<LiveBuffer> at_peak;  // The buffers at the peak, largest first, at most kLargest.
  int64_t others_bytes = 0;         // The bytes of the buffers that are not listed.
  int64_t others = 0;
};
constexpr size_t kLargest = 30;

// Returns the memory of buffers that tensors hold, and of uploads; results of executes without tensors leave
// no events. A donated argument is counted until its execute is sent: then a result has its memory. A
// program's temporaries are counted at that moment.
Memory MemoryOf(const Profile& run);

}  // namespace hlod::report
