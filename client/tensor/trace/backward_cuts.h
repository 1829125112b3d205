// Cutting a step where forward, backward and optimizer meet, as AOTAutograd does: for comparisons.
#pragma once

#include "hlod/runtime/caller.h"

namespace hlod::lazy {

// While it lives, Backward() of this thread closes the trace when it begins and when it ends.
class BackwardCuts {
 public:
  BackwardCuts();
  ~BackwardCuts();
  BackwardCuts(const BackwardCuts&) = delete;
  BackwardCuts& operator=(const BackwardCuts&) = delete;

 private:
  const bool before_;
};

// Closes what this thread has recorded, while there are BackwardCuts and no function is traced.
void CutAtPhase(const Caller& caller);

}  // namespace hlod::lazy
