// Sums over the steps of each computation, callees first.
#include "client/analysis/module/traffic.h"

#include <algorithm>

#include "client/analysis/module/access.h"
#include "common/hlo/analysis/trip_count.h"

namespace hlod::analysis {
namespace {

using hlo::Instruction;

// Returns the bytes that a step writes. For an array that is updated in place these are only the updates; a
// scatter also reads the old values, which this includes.
int64_t WrittenBy(Instruction i, const PlacementOptions& options) {
  const uint32_t count = i.operand_count();
  if (i.opcode() == hlo::kDynamicUpdateSlice) return options.BytesOf(i.operand(1).shape());
  if (i.opcode() != hlo::kScatter) return options.BytesOf(i.shape());
  int64_t updates = 0;
  for (uint32_t update = (count + 1) / 2; update < count; ++update)
    updates += options.BytesOf(i.operand(update).shape());
  return 2 * updates;
}

double TrafficOfInstruction(const Placements& placements, const Placement& placement, Instruction i,
                            const std::vector<double>& called) {
  switch (i.opcode()) {
    case hlo::kWhile: {
      const double iterations = static_cast<double>(hlo::TripCountOf(placements.module(), i).value_or(1));
      return iterations * called[i.called()[0]] + (iterations + 1) * called[i.called()[1]];
    }
    case hlo::kConditional:
    case hlo::kCall: {
      double most = 0;
      for (const hlo::ComputationId id : i.called()) most = std::max(most, called[id]);
      return most;
    }
    default: break;
  }
  double bytes = static_cast<double>(WrittenBy(i, placements.options()));
  for (const Source& source : placement.ReadBy(i)) bytes += static_cast<double>(source.read);
  return bytes;
}

}  // namespace

double TrafficOf(const Placements& placements) {
  const hlo::Module& module = placements.module();
  std::vector<double> bytes(module.entry_id() + 1, 0);
  for (const hlo::ComputationId id : placements.callees_first()) {
    const Placement& placement = placements.of(id);
    const hlo::Computation& computation = placement.computation();
    for (hlo::NodeId node = 0; node < computation.size(); ++node) {
      if (placement.runs(node))
        bytes[id] += TrafficOfInstruction(placements, placement, computation[node], bytes);
    }
  }
  return bytes[module.entry_id()];
}

}  // namespace hlod::analysis
