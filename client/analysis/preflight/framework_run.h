// The steps and the arrays of a framework's program, which says of neither what it is.
//
// A step is a run of the program that computes most, in all its versions: those of one name count as one. The
// arrays have the names that the framework gives to that program's parameters ("params['w']",
// "opt_state[0].mu['w']", "batch"). An array that one run hands on to the next one is state; others are
// inputs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "client/analysis/preflight/preflight_log.h"

namespace hlod::analysis {

struct FrameworkRun {
  struct Array {
    std::string role;  // "weight", "optimizer", or empty.
    std::string name;
  };
  absl::flat_hash_set<std::string>
      step_digests;  // The programs whose runs are the steps; empty: none computes.
  absl::flat_hash_map<uint64_t, Array> arrays;  // By handle.
};

// INVALID_ARGUMENT when a program of the log cannot be read.
absl::StatusOr<FrameworkRun> ReadFrameworkRun(const PreflightLog& record);

}  // namespace hlod::analysis
