// The rows that an account keeps of executes and compiles. Their sums are the account's counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/errors/compile_reason.h"
#include "common/base/saturated.h"
#include "common/base/sha256.h"

namespace hlod::device {

// The minimum, maximum and sum of several times, in microseconds.
struct Distribution {
  int64_t min_us = 0, max_us = 0, sum_us = 0;
  void Add(const Distribution& other, bool first) {
    min_us = first ? other.min_us : std::min(min_us, other.min_us);
    max_us = std::max(max_us, other.max_us);
    sum_us += other.sum_us;
  }
  static Distribution Of(int64_t us) { return {us, us, us}; }
};

struct RunKey {
  uint32_t device = 0;
  uint32_t program = 0;  // The ledger's number of the program.
  uint32_t origin = 0;   // The session's number of the line; 0 is unknown.
  uint64_t step = 0;
  // True for a row that sums up several, because there were too many rows.
  bool other_steps = false, other_programs = false;
  friend bool operator==(const RunKey&, const RunKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const RunKey& key) {
    return H::combine(std::move(h), key.device, key.program, key.origin, key.step, key.other_steps,
                      key.other_programs);
  }
};

struct RunFigures {
  int64_t count = 0;
  Distribution queue, run;
  int64_t peak_bytes = 0;
  int64_t network_us = 0, network_bytes = 0;  // Modelled, of all executes.
  void Add(const RunFigures& other) {
    queue.Add(other.queue, count == 0);
    run.Add(other.run, count == 0);
    count += other.count;
    network_us = SaturatedSum(network_us, other.network_us);
    network_bytes = SaturatedSum(network_bytes, other.network_bytes);
    peak_bytes = std::max(peak_bytes, other.peak_bytes);
  }
};

struct RunRow {
  RunKey key;
  Digest digest = {};
  std::string program;  // The name of the module.
  RunFigures figures;
};

// An execute that ended.
struct RunSample {
  int64_t at_us = 0;  // The time since the daemon started.
  int64_t queue_us = 0, run_us = 0;
  int64_t network_us = 0, network_bytes = 0;  // Modelled.
};

enum class CompileOutcome : uint8_t { kCompiled, kCached, kPersistent };
constexpr int kCompileOutcomes = 3;

// A compile that succeeded, or a sum of the oldest ones if there are too many.
struct CompileRow {
  Digest digest = {};
  std::string program;
  uint32_t origin = 0;
  uint64_t step = 0;
  CompileReason reason = CompileReason::kUnsaid;
  std::string reason_text;
  CompileOutcome outcome = CompileOutcome::kCompiled;
  int64_t at_us = 0;  // The time since the daemon started.
  int64_t compile_us = 0, instructions = 0, program_bytes = 0, code_bytes = 0;
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
  int64_t count = 1;
  bool others = false;
  std::vector<std::string> slow_steps;  // The first kSlowStepsKept slow steps of the plan.
  static constexpr size_t kSlowStepsKept = 8;
};

}  // namespace hlod::device
