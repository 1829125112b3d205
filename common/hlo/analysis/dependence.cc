// Dependences of a module's outputs on its parameters.
#include "common/hlo/analysis/dependence.h"

#include "common/hlo/analysis/dependence_analysis.h"

namespace hlod::hlo {

std::vector<std::vector<bool>> OutputDependences(const Module& module) {
  DependenceAnalysis analysis(module);
  const auto outputs = static_cast<size_t>(analysis.LeafCount(module.entry().root().shape()));
  std::vector<std::vector<bool>> dependences;
  LeafFlags one(outputs);
  for (size_t output = 0; output < outputs; ++output) {
    one[output] = true;
    dependences.push_back(analysis.Needed(module.entry_id(), one));
    one[output] = false;
  }
  return dependences;
}

}  // namespace hlod::hlo
