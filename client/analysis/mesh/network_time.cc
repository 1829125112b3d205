// Adds the costs up.
#include "client/analysis/mesh/network_time.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "common/base/errors/status.h"

namespace hlod::analysis {

absl::StatusOr<NetworkUse> NetworkUseOf(const std::vector<CollectiveUse>& uses, const Network& network) {
  using Key = std::tuple<hlo::Opcode, std::vector<size_t>, int64_t>;
  std::map<Key, NetworkRow> rows;
  std::map<Key, double> longest;
  NetworkUse sum;
  for (const CollectiveUse& use : uses) {
    if (use.collective.group_of.size() != network.places.size()) {
      return InvalidArgument("%s has %d participants; the target has %d chips.", use.name,
                             use.collective.group_of.size(), network.places.size());
    }
    const network::CollectiveCost cost = network::CostOn(use.collective, use.operand_bytes, network);
    const Key key(use.opcode, use.axes, use.group_size);
    NetworkRow& row = rows[key];
    row.opcode = use.opcode;
    row.axes = use.axes;
    row.group_size = use.group_size;
    row.runs += use.times;
    row.bytes += use.times * cost.bytes;
    row.seconds += use.times * cost.seconds;
    if (double& most = longest[key]; use.times * cost.seconds > most) {
      most = use.times * cost.seconds;
      row.source = use.source;
    }
  }
  for (auto& [key, row] : rows) {
    sum.bytes += row.bytes;
    sum.seconds += row.seconds;
    sum.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(sum.rows, std::greater<>(), &NetworkRow::seconds);
  return sum;
}

}  // namespace hlod::analysis
