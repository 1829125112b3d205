// Closes the trace at the boundaries of forward, backward and optimizer, as AOTAutograd separates them. Used
// for comparisons with it.
#pragma once

#include "hlod/runtime/caller.h"

namespace hlod::lazy {

// While one exists, Backward() in this thread closes the trace when it begins and when it ends.
class BackwardCuts {
 public:
  BackwardCuts();
  ~BackwardCuts();
  BackwardCuts(const BackwardCuts&) = delete;
  BackwardCuts& operator=(const BackwardCuts&) = delete;

 private:
  const bool before_;
};

// Closes this thread's real traces if it has BackwardCuts and is not tracing a function.
void CutAtPhase(const Caller& caller);

}  // namespace hlod::lazy
