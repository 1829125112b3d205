// The open graphs of one thread: two for each device it has used, and one for the host.
#pragma once

#include <memory>
#include <vector>

#include "client/tensor/trace/graph.h"

namespace hlod::lazy {

class ThreadTrace {
 public:
  static ThreadTrace& Get();
  ~ThreadTrace();

  // Made when missing; while a function is traced there, its graph. REQUIRES: TraceLock.
  Graph& Open(Place place, Graph::Kind kind);
  const std::vector<std::unique_ptr<Graph>>& graphs() const { return graphs_; }

 private:
  std::vector<std::unique_ptr<Graph>> graphs_;
};

}  // namespace hlod::lazy
