// The counters of a program's random instructions.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/base/random_counter.h"
#include "common/hlo/module.h"

namespace hlod {

// One counter per instruction that draws, created at the first draw. Runs of a program share them, so that
// each run draws other numbers. Thread-safe. Modules whose instructions drew must outlive it.
class RandomCounters {
 public:
  RandomCounter& Of(hlo::Instruction instruction) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<RandomCounter>& counter = counters_[{&instruction.computation(), instruction.id()}];
    if (counter == nullptr) counter = std::make_unique<RandomCounter>();
    return *counter;
  }

 private:
  std::mutex mutex_;
  absl::flat_hash_map<std::pair<const hlo::Computation*, hlo::NodeId>, std::unique_ptr<RandomCounter>>
      counters_;
};

}  // namespace hlod
