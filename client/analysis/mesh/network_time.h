// The time that collectives take on a network, by the alpha-beta model: a number of hops, each with its
// latency, and the bytes through the narrowest cut. For n devices with S bytes each (an all-gather's operand;
// otherwise the whole operand) on dimensions with B bytes per second (a ring has two links per device and
// direction, a line one; several dimensions add up):
//
//   all-gather        S * (n - 1) / B
//   reduce-scatter    S * (n - 1) / n / B
//   all-reduce        both: 2 * S * (n - 1) / n / B
//   all-to-all        n * S / 4, which crosses the middle one way, through the links across the longest
//   dimension permute           S * (the most transfers that share a link) / link
//
// Groups in several domains do the same among the domains, each chip with its share. Nothing else is
// modelled: no contention between different collectives, and no time for the additions of a reduction.
//
// Source: jax-ml.github.io/scaling-book, "Sharded matrices and how to multiply them";
// jax.experimental.roofline counts the same bytes per ring.
#pragma once

#include <string>
#include <vector>

#include "client/analysis/mesh/collectives.h"
#include "client/analysis/mesh/topology.h"

namespace hlod::analysis {

struct CollectiveCost {
  double bytes = 0;  // The bytes that a device sends, at most.
  double seconds = 0;
};
// Returns the cost of one run. REQUIRES: the network has a place for each participant.
CollectiveCost CostOn(const CollectiveUse& use, const Network& network);

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
