// Collectives on a torus or at a switch: the shape of a group, then one formula per collective.
#include "common/network/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "common/hlo/analysis/iterations.h"

namespace hlod::network {
namespace {

using hlo::Collective;

// The positions of a group along one dimension of the torus: every stride-th one.
struct Extent {
  int64_t size = 1, stride = 1;
  bool ring = false;
  double links() const { return ring ? 2 : 1; }
  // The number of hops to the farthest participant.
  double hops() const { return static_cast<double>((ring ? size / 2 : size - 1) * stride); }
};

// A group of devices on the network. Other groups of the same collective use the links between a stride's
// positions, so that a group has a stride-th of a link.
struct GroupShape {
  double members = 1;  // The members per domain.
  double domains = 1;
  std::vector<Extent> extents;  // Empty at a switch.
};

bool IsRing(const Network& network, size_t dimension, int64_t size) {
  return size > 2 && size == network.shape[dimension] && size % network.topology.wraps_at == 0;
}

GroupShape ShapeOf(const std::vector<int>& group, const Network& network) {
  std::set<int64_t> domains;
  std::vector<std::set<int64_t>> positions(network.shape.size());
  for (const int member : group) {
    const ChipPlace& place = network.places[static_cast<size_t>(member)];
    domains.insert(place.domain);
    for (size_t d = 0; d < positions.size(); ++d) positions[d].insert(place.position[d]);
  }
  GroupShape shape{.domains = static_cast<double>(domains.size())};
  shape.members = std::ceil(static_cast<double>(group.size()) / shape.domains);
  if (network.topology.rank == 0) return shape;
  double box = 1;
  for (size_t d = 0; d < positions.size(); ++d) {
    Extent extent{.size = static_cast<int64_t>(positions[d].size())};
    if (extent.size > 1) extent.stride = *std::next(positions[d].begin()) - *positions[d].begin();
    extent.ring = IsRing(network, d, extent.size);
    box *= static_cast<double>(extent.size);
    if (extent.size > 1) shape.extents.push_back(extent);
  }
  // Members that do not fill a box are taken as a line.
  if (box != shape.members) shape.extents = {{.size = static_cast<int64_t>(shape.members)}};
  return shape;
}

double Log2(double count) { return std::ceil(std::log2(count)); }

// Returns the seconds to gather arrays of `bytes` on all members of a group, which together had them once. To
// reduce and scatter them takes as long.
double GatherSeconds(double bytes, const GroupShape& group, const Topology& topology) {
  double seconds = 0;
  if (group.members > 1) {
    double bandwidth = 0, longest = 0;
    for (const Extent& extent : group.extents) {
      bandwidth += extent.links() * topology.link / static_cast<double>(extent.stride);
      longest = std::max(longest, extent.hops());
    }
    // Each dimension carries a share of the arrays at any time, so that every phase waits for the longest
    // one.
    double hops = longest * static_cast<double>(group.extents.size());
    if (group.extents.empty()) bandwidth = topology.link, hops = Log2(group.members);
    seconds += bytes * (group.members - 1) / group.members / bandwidth + hops * topology.hop_seconds;
  }
  if (group.domains > 1) {
    seconds += bytes * (group.domains - 1) / group.domains / (group.members * topology.outer) +
               Log2(group.domains) * topology.outer_hop_seconds;
  }
  return seconds;
}

// Returns the seconds of an all-to-all in which each member has `bytes`.
double ExchangeSeconds(double bytes, const GroupShape& group, const Topology& topology) {
  double seconds = 0, hops = 0;
  for (const Extent& extent : group.extents) {
    const double across = extent.links() * group.members / static_cast<double>(extent.size);
    const double bandwidth = across * topology.link / static_cast<double>(extent.stride);
    seconds = std::max(seconds, group.members * bytes / 4 / bandwidth);
    hops += extent.hops();
  }
  if (group.extents.empty() && group.members > 1) {
    seconds = bytes * (group.members - 1) / group.members / topology.link;
    hops = 1;
  }
  seconds += hops * topology.hop_seconds;
  if (group.domains > 1)
    seconds += bytes * (group.domains - 1) / group.domains / topology.outer + topology.outer_hop_seconds;
  return seconds;
}

// The transfers of a permutation, each along one dimension after the other, the shorter way around a ring.
class Routes {
 public:
  explicit Routes(const Network& network) : network_(network) {}

  void Add(const ChipPlace& from, const ChipPlace& to) {
    if (from.domain != to.domain) {
      crosses_ = true;
      return;
    }
    int64_t hops = 0;
    hlo::Dims at = from.position;
    for (size_t d = 0; d < at.size(); ++d) hops += Walk(from.domain, at, d, to.position[d]);
    hops_ = std::max(hops_, hops);
  }

  double Seconds(double bytes) const {
    const Topology& topology = network_.topology;
    double seconds = 0;
    if (crosses_) seconds = bytes / topology.outer + topology.outer_hop_seconds;
    const double inside = bytes * static_cast<double>(most_) / topology.link +
                          static_cast<double>(hops_) * topology.hop_seconds;
    return std::max(seconds, inside);
  }

 private:
  using Link = std::tuple<int64_t, size_t, hlo::Dims, bool>;  // Domain, dimension, position, direction.

  void Load(const Link& link) { most_ = std::max(most_, ++load_[link]); }

  int64_t Walk(int64_t domain, hlo::Dims& at, size_t d, int64_t to) {
    if (at[d] == to) return 0;
    const int64_t size = network_.shape[d];
    if (network_.topology.rank == 0) {  // One hop through the switch.
      Load({domain, d, at, true});
      at[d] = to;
      return 1;
    }
    const int64_t up = ((to - at[d]) % size + size) % size;
    const bool ring = IsRing(network_, d, size);
    const bool upward = ring ? up <= size - up : to > at[d];
    const int64_t hops = ring ? std::min(up, size - up) : std::abs(to - at[d]);
    for (int64_t hop = 0; hop < hops; ++hop) {
      Load({domain, d, at, upward});
      at[d] = ((at[d] + (upward ? 1 : -1)) % size + size) % size;
    }
    return hops;
  }

  const Network& network_;
  std::map<Link, int64_t> load_;
  int64_t most_ = 0, hops_ = 0;
  bool crosses_ = false;
};

CollectiveCost PermuteCost(const Collective& collective, double operand_bytes, const Network& network) {
  Routes routes(network);
  bool sends = false;
  for (size_t target = 0; target < collective.sources.size(); ++target) {
    const int source = collective.sources[target];
    if (source < 0 || source == static_cast<int>(target)) continue;
    sends = true;
    routes.Add(network.places[static_cast<size_t>(source)], network.places[target]);
  }
  return {.bytes = sends ? operand_bytes : 0, .seconds = routes.Seconds(operand_bytes)};
}

// The costs of a run's collectives, of which each is computed until they were too many for a daemon that
// other sessions wait for. Those after are taken to cost per byte what the others of their kind cost.
class RunCost {
 public:
  RunCost(const hlo::Participants& participants, const Network& network)
      : participants_(participants), network_(network) {}

  CollectiveCost Of(hlo::Instruction i, double operand_bytes) {
    work_ += static_cast<double>(participants_.count());
    Sum& sum = sums_[i.opcode()];
    if (work_ > kParticipantsMax) {
      const double part = sum.operand_bytes > 0 ? operand_bytes / sum.operand_bytes : 0;
      return {.bytes = part * sum.cost.bytes, .seconds = part * sum.cost.seconds};
    }
    const absl::StatusOr<Collective> collective = hlo::ReadCollective(i, participants_);
    if (!collective.ok()) return {};
    const CollectiveCost cost = CostOn(*collective, operand_bytes, network_);
    sum.operand_bytes += operand_bytes;
    sum.cost.bytes += cost.bytes;
    sum.cost.seconds += cost.seconds;
    return cost;
  }

 private:
  // About a second of work.
  static constexpr double kParticipantsMax = 1 << 21;

  struct Sum {
    double operand_bytes = 0;
    CollectiveCost cost;
  };

  const hlo::Participants& participants_;
  const Network& network_;
  std::map<hlo::Opcode, Sum> sums_;
  double work_ = 0;
};

}  // namespace

CollectiveCost CostOn(const Collective& collective, double operand_bytes, const Network& network) {
  if (collective.opcode == hlo::kCollectivePermute) return PermuteCost(collective, operand_bytes, network);
  CollectiveCost most;
  for (const std::vector<int>& group : collective.groups) {
    const GroupShape shape = ShapeOf(group, network);
    const double n = static_cast<double>(group.size()), each = operand_bytes;
    CollectiveCost cost;
    switch (collective.opcode) {
      case hlo::kAllGather: cost = {each * (n - 1), GatherSeconds(each * n, shape, network.topology)}; break;
      case hlo::kAllToAll:
      case hlo::kRaggedAllToAll:
        cost = {each * (n - 1) / n, ExchangeSeconds(each, shape, network.topology)};
        break;
      case hlo::kAllReduce:
        cost = {2 * each * (n - 1) / n, 2 * GatherSeconds(each, shape, network.topology)};
        break;
      // A broadcast sends each part once along a ring, as a reduce-scatter does.
      default: cost = {each * (n - 1) / n, GatherSeconds(each, shape, network.topology)}; break;
    }
    most.bytes = std::max(most.bytes, cost.bytes);
    most.seconds = std::max(most.seconds, cost.seconds);
  }
  return most;
}

double BytesOf(const hlo::Shape& shape) {
  double bytes = 0;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape))
    bytes += static_cast<double>(hlo::ByteSize(*leaf.shape).value_or(0));
  return bytes;
}

CollectiveCost CostOfRun(const hlo::Module& module, const hlo::Participants& participants,
                         const Network& network) {
  CollectiveCost sum;
  RunCost each(participants, network);
  const std::vector<double> runs = hlo::RunsOf(module, module.entry_id());
  for (hlo::ComputationId id = 0; id < runs.size(); ++id) {
    const hlo::Computation& computation = module.computation(id);
    for (hlo::NodeId node = 0; node < computation.size() && runs[id] > 0; ++node) {
      const hlo::Instruction i = computation[node];
      if (!hlo::HasTrait(i.opcode(), hlo::kCollective) || hlo::IsCollectiveEnd(i.opcode())) continue;
      double bytes = 0;
      for (uint32_t operand = 0; operand < i.operand_count(); ++operand)
        bytes += BytesOf(i.operand(operand).shape());
      const CollectiveCost cost = each.Of(i, bytes);
      sum.bytes += runs[id] * cost.bytes;
      sum.seconds += runs[id] * cost.seconds;
    }
  }
  return sum;
}

}  // namespace hlod::network
