// Reasons for those that come late.
#include "server/fabric/refusals.h"

namespace hlod::fabric {

void Refusals::Remember(const LaunchKey& key, const absl::Status& why, const std::string& user,
                        std::set<uint32_t> late, int64_t until_us) {
  if (const auto before = rows_.find(key); before != rows_.end()) Forget(before);
  if (late.empty()) return;
  crowd_.Add(key, user);
  rows_[key] = {.why = why, .late = std::move(late), .until_us = until_us};
  if (rows_.size() > max_) Forget(rows_.find(crowd_.Last()));
}

bool Refusals::Answer(uint32_t rank, const v1::LaunchOffer& offer) {
  const LaunchKey key{offer.group(), offer.sequence()};
  const auto found = rows_.find(key);
  if (found == rows_.end() || !found->second.late.contains(rank)) return false;
  if (offer.coming()) return true;  // The offer itself gets the reason.
  if (!offer.has_error()) post_(rank, MakeOfferRefused(key, found->second.why));
  found->second.late.erase(rank);
  if (found->second.late.empty()) Forget(found);
  return true;
}

void Refusals::Forget(Rows::iterator row) {
  crowd_.Remove(row->first);
  rows_.erase(row);
}

void Refusals::Tick(int64_t now_us) {
  for (auto next = rows_.begin(); next != rows_.end();) {
    const auto current = next++;
    if (now_us > current->second.until_us) Forget(current);
  }
}

}  // namespace hlod::fabric
