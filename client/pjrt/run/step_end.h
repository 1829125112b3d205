// Finds the end of the steps of a framework's program, which marks none, for `hloctl check --steps`.
//
// A step is a run of the program that computes most, as in the report (client/analysis/preflight/framework_run.h).
// While the program runs it is not known which one that will be. The steps are over when the program that
// computes most so far is about to run once more, and goes on from its own earlier runs:
// - it takes an array of floating-point numbers that an earlier run of it made, directly or through other programs, as
//   a training takes its weights (an array of integers may be a key of random numbers, which initialisation
//   splits again and again); or
// - it takes an array that it took the last time, and one that was uploaded since, as an inference takes its
//   weights and the next batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt {

// Thread-safe.
class StepEnd {
 public:
  // `steps` is above 0.
  explicit StepEnd(int64_t steps) : steps_(steps) {}

  // An array that a program takes or makes. Handles count upwards.
  struct Array {
    uint64_t handle = 0;  // 0: a number that is in the command.
    const hlo::Shape* shape = nullptr;
  };
  // Returns true when as many steps have run, and the program that is about to run is the next one. All
  // programs of one name are versions of one.
  bool IsBefore(const std::string& name, absl::Span<const Array> arguments);
  // Takes note of a run, which makes `flops` operations.
  void Ran(const std::string& name, double flops, absl::Span<const Array> arguments,
           absl::Span<const Array> results);

 private:
  // The programs, by id, whose runs made an array, directly or through other programs.
  using Makers = std::shared_ptr<const std::set<int>>;
  struct Program {
    int id = 0;
    int64_t runs = 0;
    double flops = 0;                 // The sum of all runs.
    std::vector<uint64_t> arguments;  // The arguments of the last run.
    uint64_t newest = 0;              // The newest array after the last run.
  };
  Program& Find(const std::string& name) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool ComputesMost(const Program& program) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool GoesOn(const Program& program, absl::Span<const Array> arguments) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int64_t steps_;
  absl::Mutex mu_;
  std::map<std::string, Program> programs_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<uint64_t, Makers> makers_ ABSL_GUARDED_BY(mu_);  // By handle of a result.
  uint64_t newest_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hlod::pjrt
