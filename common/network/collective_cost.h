// The time that collectives take on a network, by the alpha-beta model: a number of hops, each with its
// latency, and the bytes through the narrowest cut. For n devices with S bytes each (an all-gather's operand;
// otherwise the whole operand) on dimensions with B bytes per second (a ring has two links per device and
// direction, a line one; several dimensions add up):
//
//   all-gather        S * (n - 1) / B
//   reduce-scatter    S * (n - 1) / n / B
//   all-reduce        both: 2 * S * (n - 1) / n / B
//   all-to-all        n * S / 4, which crosses the middle one way, over the links across the longest
//   dimension permute           S * (the most transfers that share a link) / link
//
// Groups in several domains do the same among the domains, each chip with its share. Nothing else is
// modelled: no contention between different collectives, and no time for the additions of a reduction.
//
// Source: jax-ml.github.io/scaling-book, "Sharded matrices and how to multiply them";
// jax.experimental.roofline counts the same bytes per ring.
#pragma once

#include "common/hlo/collectives/collective.h"
#include "common/hlo/module.h"
#include "common/network/topology.h"

namespace hlod::network {

struct CollectiveCost {
  double bytes = 0;  // The bytes that a device sends, at most.
  double seconds = 0;
};
// Returns the cost of one run of a collective whose operands have `operand_bytes` on each device. REQUIRES:
// the network has a place for each participant.
CollectiveCost CostOn(const hlo::Collective& collective, double operand_bytes, const Network& network);

// Returns the bytes of all arrays of a shape.
double BytesOf(const hlo::Shape& shape);

// Returns the sum of the costs of the collectives that one run of the module's entry runs. A loop of unknown
// trip count counts as one iteration, and a collective whose groups cannot be read as nothing. REQUIRES: the
// network has as many places as `participants` are.
CollectiveCost CostOfRun(const hlo::Module& module, const hlo::Participants& participants,
                         const Network& network);

}  // namespace hlod::network
