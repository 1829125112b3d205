// The speed of this machine, measured: what the steps of a profile are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/engine/run/run_context.h"

namespace hlod::engine {

// The rate of a copy whose source and destination have `bytes` together, read and written bytes both counted.
struct CopySpeed {
  int64_t bytes = 0;
  double bytes_per_second = 0;
};

// The speed of a team of `threads` with the instructions that this process uses (BestCpuLevel).
struct MachineSpeed {
  int threads = 1;
  double f32_flops = 0;           // Multiply-adds per second in registers, counted twice. f64 has half of it.
  std::vector<CopySpeed> copies;  // By size, ascending: in caches, and in memory.
};

// The bytes that the measurement needs: more than most caches hold. With less memory it measures the smaller
// sizes only.
inline constexpr int64_t kMachineSpeedBytes = int64_t{128} << 20;

// Measures for about 100 ms on the calling thread's team. `memory` is overwritten. Returns CANCELLED or
// DEADLINE_EXCEEDED as the run has to stop.
absl::StatusOr<MachineSpeed> MeasureMachineSpeed(absl::Span<std::byte> memory, int threads,
                                                 const RunContext& run);

}  // namespace hlod::engine
