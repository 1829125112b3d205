// Computes the dependences of a module's outputs on its parameters.
#include "common/hlo/analysis/dependence.h"

#include <algorithm>

#include "common/hlo/analysis/dependence_analysis.h"

namespace hlod::hlo {

Dependences::Dependences(const Module& module) {
  DependenceAnalysis::OutputSets outputs = DependenceAnalysis(module).OutputsOf(module.entry_id());
  parameters_ = outputs.parameters;
  sets_ = std::move(outputs.sets);
  set_of_ = std::move(outputs.set_of);
}

std::vector<bool> Dependences::Computable(const std::vector<bool>& absent) const {
  std::vector<bool> present(sets_.size());
  for (size_t set = 0; set < sets_.size(); ++set) {
    present[set] = std::none_of(sets_[set].begin(), sets_[set].end(),
                                [&](uint32_t leaf) { return leaf < absent.size() && absent[leaf]; });
  }
  std::vector<bool> computable(set_of_.size());
  for (size_t output = 0; output < set_of_.size(); ++output) computable[output] = present[set_of_[output]];
  return computable;
}

std::vector<bool> Dependences::Of(size_t output) const {
  std::vector<bool> depends(parameters_);
  for (const uint32_t leaf : sets_[set_of_[output]]) depends[leaf] = true;
  return depends;
}

}  // namespace hlod::hlo
