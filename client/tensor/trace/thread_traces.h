// The open graphs of one thread: two for each device it has used, and one for the host.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/trace.h"

namespace hlod::lazy {

class ThreadTraces {
 public:
  static ThreadTraces& Get();
  ~ThreadTraces();

  // Made when missing; while a function is traced there, its graph. REQUIRES: TraceLock.
  Trace& Open(Place place, Trace::Kind kind);
  const std::vector<std::unique_ptr<Trace>>& graphs() const { return graphs_; }

 private:
  std::vector<std::unique_ptr<Trace>> graphs_;
};

}  // namespace hlod::lazy
