// The measured times of a run's instructions.
#pragma once

#include <cstdint>
#include <vector>

namespace hlod::engine {

// The runs of an instruction of a plan's code and the nanoseconds that they took, the reading of the clock
// (about 30 ns each time) included.
struct StepTime {
  int64_t runs = 0, ns = 0;
};

// The times that a measured run fills in (RunContext::times).
struct StepTimes {
  std::vector<StepTime> instructions;  // By position in the code; sized by the run.
  int64_t ns = 0;                      // The whole run.
};

}  // namespace hlod::engine
