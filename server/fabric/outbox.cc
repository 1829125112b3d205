// Turns of clients.
#include "server/fabric/outbox.h"

#include <utility>

namespace hlod::fabric {

void Outbox::Add(uint32_t rank, const v1::LaunchOffer& offer) {
  const auto lane = lanes_.try_emplace(rank).first;
  Entry& entry = lane->second.clients[offer.group()][offer.sequence()];
  if (entry.bytes > 0) work_.Discharge({entry.offer.user()}, entry.bytes);
  entry = {offer, 0};
  if (!offer.has_error()) return;
  const auto bytes = static_cast<int64_t>(sizeof(Entry) + offer.ByteSizeLong());
  if (work_.Charge({offer.user()}, bytes).ok()) entry.bytes = bytes;
  else Erase(lane, offer.group(), offer.sequence());
}

void Outbox::Erase(std::map<uint32_t, Lane>::iterator lane, uint64_t client, uint64_t sequence) {
  const auto of_client = lane->second.clients.find(client);
  const auto entry = of_client->second.find(sequence);
  if (entry->second.bytes > 0) work_.Discharge({entry->second.offer.user()}, entry->second.bytes);
  of_client->second.erase(entry);
  if (of_client->second.empty()) lane->second.clients.erase(of_client);
  if (lane->second.clients.empty()) lanes_.erase(lane);
}

std::optional<v1::LaunchOffer> Outbox::Next(uint32_t rank) {
  const auto found = lanes_.find(rank);
  if (found == lanes_.end()) return std::nullopt;
  Lane& lane = found->second;
  auto client = lane.clients.upper_bound(lane.last);
  if (client == lane.clients.end()) client = lane.clients.begin();
  lane.last = client->first;
  v1::LaunchOffer offer = client->second.begin()->second.offer;
  Erase(found, client->first, client->second.begin()->first);
  return offer;
}

void Outbox::Drop(uint32_t rank) {
  while (Next(rank).has_value()) {
  }
}

std::vector<uint32_t> Outbox::ranks() const {
  std::vector<uint32_t> ranks;
  for (const auto& [rank, lane] : lanes_) ranks.push_back(rank);
  return ranks;
}

}  // namespace hlod::fabric
