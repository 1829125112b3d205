// Turns of clients.
#include "server/fabric/outbox.h"

#include <utility>

namespace hlod::fabric {

void Outbox::Add(uint32_t rank, const v1::LaunchOffer& offer) {
  lanes_[rank].clients[offer.group()][offer.sequence()] = offer;
}

std::optional<v1::LaunchOffer> Outbox::Next(uint32_t rank) {
  const auto found = lanes_.find(rank);
  if (found == lanes_.end()) return std::nullopt;
  Lane& lane = found->second;
  auto client = lane.clients.upper_bound(lane.last);
  if (client == lane.clients.end()) client = lane.clients.begin();
  lane.last = client->first;
  const auto first = client->second.begin();
  v1::LaunchOffer offer = std::move(first->second);
  client->second.erase(first);
  if (client->second.empty()) lane.clients.erase(client);
  if (lane.clients.empty()) lanes_.erase(found);
  return offer;
}

std::vector<uint32_t> Outbox::ranks() const {
  std::vector<uint32_t> ranks;
  for (const auto& [rank, lane] : lanes_) ranks.push_back(rank);
  return ranks;
}

}  // namespace hlod::fabric
