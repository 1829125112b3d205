// Closes the trace where forward, backward and optimizer meet, as AOTAutograd cuts a step. Used for
// comparisons with it.
#pragma once

#include "hlod/runtime/caller.h"

namespace hlod::lazy {

// While one exists, Backward() of this thread closes the trace when it begins and when it ends.
class BackwardCuts {
 public:
  BackwardCuts();
  ~BackwardCuts();
  BackwardCuts(const BackwardCuts&) = delete;
  BackwardCuts& operator=(const BackwardCuts&) = delete;

 private:
  const bool before_;
};

// Closes this thread's real traces when it has BackwardCuts and traces no function.
void CutAtPhase(const Caller& caller);

}  // namespace hlod::lazy
