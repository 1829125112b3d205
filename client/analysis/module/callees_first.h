// The computations that a computation runs, ordered so that every callee comes before its callers.
#pragma once

#include <vector>

#include "common/hlo/module.h"

namespace hlod::analysis {

// Returns all computations that `root` runs, and `root` as the last. Callees have smaller ids than their
// callers, so that neither this function nor iterations over its result need recursion.
inline std::vector<hlo::ComputationId> CalleesFirst(const hlo::Module& module, hlo::ComputationId root) {
  std::vector<bool> called(root + 1, false);
  called[root] = true;
  for (hlo::ComputationId id = root + 1; id-- > 0;) {
    if (!called[id]) continue;
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      for (const hlo::ComputationId callee : computation[node].called()) called[callee] = true;
    }
  }
  std::vector<hlo::ComputationId> order;
  for (hlo::ComputationId id = 0; id <= root; ++id) {
    if (called[id]) order.push_back(id);
  }
  return order;
}

}  // namespace hlod::analysis
