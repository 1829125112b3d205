// Visits callers before callees, whose ids are smaller.
#include "common/hlo/analysis/iterations.h"

#include <optional>

#include "common/hlo/analysis/trip_count.h"

namespace hlod::hlo {

double TimesOf(const Module& module, Instruction i, size_t index) {
  switch (i.opcode()) {
    case kWhile: {
      const std::optional<int64_t> iterations = TripCountOf(module, i);
      return index == 0 ? static_cast<double>(iterations.value_or(1))
                        : static_cast<double>(iterations.value_or(0)) + 1;
    }
    case kScan: {
      const auto& attributes = i.attributes<ScanAttributes>();
      if (i.operand_count() <= static_cast<uint32_t>(attributes.num_carries)) return 1;
      return static_cast<double>(i.operand(0).shape().dims[static_cast<size_t>(attributes.dimension)]);
    }
    case kConditional:
    case kCall:
    case kFusion: return 1;
    default: return 0;
  }
}

std::vector<double> RunsOf(const Module& module, ComputationId root) {
  std::vector<double> runs(root + 1, 0);
  runs[root] = 1;
  for (ComputationId id = root + 1; id-- > 0;) {
    if (runs[id] == 0) continue;
    const Computation& computation = module.computation(id);
    for (NodeId node = 0; node < computation.size(); ++node) {
      const Instruction i = computation[node];
      for (size_t called = 0; called < i.called().size(); ++called)
        runs[i.called()[called]] += runs[id] * TimesOf(module, i, called);
    }
  }
  return runs;
}

}  // namespace hlod::hlo
