// Visits callers before callees, whose ids are smaller.
#include "client/analysis/module/iterations.h"

#include <optional>

#include "common/hlo/analysis/trip_count.h"

namespace hlod::analysis {

double TimesOf(const hlo::Module& module, hlo::Instruction i, size_t index) {
  switch (i.opcode()) {
    case hlo::kWhile: {
      const std::optional<int64_t> iterations = hlo::TripCountOf(module, i);
      return static_cast<double>(index == 0 ? iterations.value_or(1) : iterations.value_or(0) + 1);
    }
    case hlo::kScan: {
      const auto& attributes = i.attributes<hlo::ScanAttributes>();
      if (i.operand_count() <= static_cast<uint32_t>(attributes.num_carries)) return 1;
      return static_cast<double>(i.operand(0).shape().dims[static_cast<size_t>(attributes.dimension)]);
    }
    case hlo::kConditional:
    case hlo::kCall:
    case hlo::kFusion: return 1;
    default: return 0;
  }
}

std::vector<double> RunsOf(const hlo::Module& module, hlo::ComputationId root) {
  std::vector<double> runs(root + 1, 0);
  runs[root] = 1;
  for (hlo::ComputationId id = root + 1; id-- > 0;) {
    if (runs[id] == 0) continue;
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const hlo::Instruction i = computation[node];
      for (size_t called = 0; called < i.called().size(); ++called)
        runs[i.called()[called]] += runs[id] * TimesOf(module, i, called);
    }
  }
  return runs;
}

}  // namespace hlod::analysis
