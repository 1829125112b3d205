// The network's use by a module: the costs of its collectives (common/network), by kind and axes.
#pragma once

#include <string>
#include <vector>

#include "client/analysis/mesh/collectives.h"
#include "common/network/collective_cost.h"

namespace hlod::analysis {

using network::Network;
using network::Topology;

// All collectives of one kind along the same axes.
struct NetworkRow {
  hlo::Opcode opcode = hlo::kAllReduce;
  std::vector<size_t> axes;  // As CollectiveUse::axes.
  int64_t group_size = 1;
  double runs = 0, bytes = 0, seconds = 0;
  SourceLine source;  // The line of the collective with most of the time.
};

struct NetworkUse {
  double bytes = 0;              // The bytes that a device sends.
  double seconds = 0;            // The sum of the times: nothing runs beside a collective.
  std::vector<NetworkRow> rows;  // Most time first.
};
// Returns the network's use by one run of the module whose collectives are given. INVALID_ARGUMENT unless the
// network has as many places as the collectives have participants.
absl::StatusOr<NetworkUse> NetworkUseOf(const std::vector<CollectiveUse>& uses, const Network& network);

}  // namespace hlod::analysis
