// Refusals in the order in which they came, by user.
#include "server/fabric/refusals.h"

#include <iterator>
#include <limits>

namespace hlod::fabric {

void Refusals::Remember(const LaunchKey& key, Refusal refusal) {
  if (refusal.late.empty()) return;
  if (const auto known = rows_.find(key); known != rows_.end()) {
    // If it was refused as a whole, daemons that come late still learn it.
    Refusal& before = known->second.refusal;
    if (!refusal.only.empty()) {
      if (!before.only.empty()) before.only.merge(refusal.only);
      return;
    }
    Forget(known);
  }
  const uint64_t turn = ++last_turn_;
  counts_.Add(key.first, refusal.user);
  turns_[{refusal.user, turn}] = key;
  rows_[key] = {std::move(refusal), turn};
  if (rows_.size() <= max_) return;
  const auto after = turns_.upper_bound({counts_.Largest(), std::numeric_limits<uint64_t>::max()});
  Forget(rows_.find(std::prev(after)->second));
}

const Refusal* Refusals::Find(const LaunchKey& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second.refusal;
}

Refusal Refusals::Take(const LaunchKey& key) {
  const auto found = rows_.find(key);
  Refusal refusal = found->second.refusal;
  Forget(found);
  return refusal;
}

void Refusals::OnTold(const LaunchKey& key, uint32_t rank) {
  const auto found = rows_.find(key);
  found->second.refusal.late.erase(rank);
  if (found->second.refusal.late.empty()) Forget(found);
}

void Refusals::Tick(int64_t now_us, int64_t age_us) {
  for (auto next = rows_.begin(); next != rows_.end();) {
    const auto current = next++;
    if (now_us - current->second.refusal.since_us > age_us) Forget(current);
  }
}

void Refusals::Forget(std::map<LaunchKey, Row>::iterator row) {
  counts_.Remove(row->first.first, row->second.refusal.user);
  turns_.erase({row->second.refusal.user, row->second.turn});
  rows_.erase(row);
}

}  // namespace hlod::fabric
