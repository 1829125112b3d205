// The order in which a compiler runs the instructions of a computation. It determines what is alive at the
// same time: two orders of one program can need very different memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/analysis/module/placement.h"
#include "common/hlo/module.h"

namespace hlod::analysis {

enum class Order {
  kProgram,       // The order of the module's text.
  kBreadthFirst,  // First ready, first run, as XLA's CPU backend does to keep its threads busy.
  kDepthFirst,    // Operands first, the ones with most later users before the others.
  kGreedy,        // The ready instruction that frees most.
};

struct Schedule {
  std::vector<hlo::NodeId> order;   // The instructions that are not fused away.
  std::vector<uint32_t> positions;  // The position of each instruction in `order`; 0 for fused ones.
};

// The instructions of a computation, as nodes of a graph without those that are fused away.
class ScheduleGraph {
 public:
  explicit ScheduleGraph(const Placement& placement);

  Schedule In(Order order) const;

 private:
  std::vector<hlo::NodeId> BreadthFirst() const;
  std::vector<hlo::NodeId> DepthFirst() const;
  std::vector<hlo::NodeId> Greedy() const;

  const Placement& placement_;
  std::vector<bool> present_;                       // By instruction.
  // The instructions that each instruction waits for, each once.
  std::vector<std::vector<hlo::NodeId>> operands_;
  std::vector<std::vector<hlo::NodeId>> users_;  // By instruction, in the compiler's order.
};

}  // namespace hlod::analysis
