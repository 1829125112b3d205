// Runs of computations: trip counts, multiplied along the calls.
#include "client/analysis/module/runs.h"

#include <optional>

#include "common/hlo/analysis/trip_count.h"

namespace hlod::analysis {

using hlo::Instruction;

double RunsOf(const hlo::Module& module, Instruction instruction, size_t index) {
  switch (instruction.opcode()) {
    case hlo::kWhile: {
      const std::optional<int64_t> iterations = hlo::TripCountOf(module, instruction);
      return static_cast<double>(index == 0 ? iterations.value_or(1) : iterations.value_or(0) + 1);
    }
    case hlo::kScan: {
      const auto& attributes = instruction.attributes<hlo::ScanAttributes>();
      if (instruction.operand_count() <= static_cast<uint32_t>(attributes.num_carries)) return 1;
      const size_t dimension = static_cast<size_t>(attributes.dimension);
      return static_cast<double>(instruction.operand(0).shape().dims[dimension]);
    }
    case hlo::kConditional:
    case hlo::kCall:
    case hlo::kFusion: return 1;
    default: return 0;
  }
}

std::vector<double> RunsOfAll(const hlo::Module& module, hlo::ComputationId root) {
  std::vector<double> runs(root + 1, 0);
  runs[root] = 1;
  for (hlo::ComputationId id = root + 1; id-- > 0;) {  // Callers have larger ids than their callees.
    if (runs[id] == 0) continue;
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      const Instruction instruction = computation[node];
      for (size_t index = 0; index < instruction.called().size(); ++index)
        runs[instruction.called()[index]] += runs[id] * RunsOf(module, instruction, index);
    }
  }
  return runs;
}

}  // namespace hlod::analysis
