// The lives of a computation's buffers, in positions of its schedule, and which of them share memory.
#pragma once

#include <cstdint>
#include <vector>

#include "client/analysis/module/memory/schedule.h"
#include "client/analysis/module/placement.h"

namespace hlod::analysis {

// The positions at which a buffer's bytes are in use.
struct Life {
  uint32_t made = 0;      // The position of the instruction that makes it.
  uint32_t last_use = 0;  // That of the last reader; the number of positions for a result.
  int64_t bytes = 0;      // 0: it has no memory of its own.
  // True when it takes over an operand's memory: its bytes count from after the instruction that makes it.
  bool in_place = false;
  bool taken = false;   // True when another has taken over its memory, so that no third can.
  bool caller = false;  // True when it is in the memory of the computation's result.
  int32_t result = -1;  // The first leaf of the result that it is or becomes; -1: none.
};

// The buffers of one computation over time. With `carries`, for a loop's body, the result's leaves replace
// the parameters'. Results are computed in place of operands that end there, and loop states are updated in
// place.
class Lives {
 public:
  Lives(const Placement& placement, Schedule schedule, bool carries);

  const Placement& placement() const { return placement_; }
  const Schedule& schedule() const { return schedule_; }
  const std::vector<Life>& all() const { return lives_; }
  // Returns the most bytes that are alive at once outside of the result's memory. `inner` has the same of the
  // computations that the instructions run, by computation.
  int64_t Most(const std::vector<int64_t>& inner) const;

 private:
  Life& At(BufferId id) { return lives_[static_cast<size_t>(id)]; }
  void Use(hlo::Instruction i);
  void KeepResults(bool carries);
  void ShareInPlace(hlo::Instruction i);
  void ShareInKernel(hlo::Instruction i, BufferId result);
  void TakeOver(BufferId result, const Sources& operand, bool must);

  const Placement& placement_;
  const hlo::Computation& computation_;
  Schedule schedule_;
  std::vector<Life> lives_;  // By buffer.
};

// Returns true for instructions that run other computations as steps: loops, branches, calls.
bool RunsOthers(hlo::Opcode opcode);

}  // namespace hlod::analysis
