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

// One counter for each instruction that draws, made when it first does: what runs of one program share, so
// that each gives other numbers. Safe from any thread; modules whose instructions drew outlive it.
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
