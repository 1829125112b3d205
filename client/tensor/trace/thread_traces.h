// The open traces of one thread: two per device that it has used, and those of the host.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

class ThreadTraces {
 public:
  static ThreadTraces& Get();
  ~ThreadTraces();

  // Returns the thread's open trace of `kind` at `place`, which is made if missing. While a function is
  // traced at `place`, returns the function's trace, except for kHost. REQUIRES: TraceLock.
  Trace& Open(Place place, Trace::Kind kind);
  const std::vector<std::unique_ptr<Trace>>& graphs() const { return graphs_; }

 private:
  std::vector<std::unique_ptr<Trace>> graphs_;
};

}  // namespace hlod::lazy
