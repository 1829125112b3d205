// Launches by user, and by the order in which they came.
#include "server/fabric/crowd.h"

#include <iterator>
#include <limits>

#include "common/base/errors/error.h"
#include "common/base/errors/status.h"

namespace hlod::fabric {

void Crowd::Add(const LaunchKey& key, const std::string& user) {
  counts_.Add(key.first, user);
  const std::pair turn(user, ++last_turn_);
  turns_.emplace(key, turn);
  of_users_.emplace(turn, key);
}

void Crowd::Remove(const LaunchKey& key) {
  const auto turn = turns_.find(key);
  counts_.Remove(key.first, turn->second.first);
  of_users_.erase(turn->second);
  turns_.erase(turn);
}

LaunchKey Crowd::LatestOf(const std::string& user) const {
  return std::prev(of_users_.upper_bound({user, std::numeric_limits<uint64_t>::max()}))->second;
}

absl::Status Crowd::MakeRoom(const LaunchKey& key, const std::string& user, const LaunchLimits& limits,
                             const std::string& where,
                             absl::FunctionRef<void(const LaunchKey&, const absl::Status&)> refuse) const {
  if (const size_t own = counts_.OfClient(key.first); own >= limits.offers_per_client_max) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s has %d launches of this client already that wait for parts of other daemons; the "
                        "limit is %d. Launch %d is refused: await some before you start more.",
                        where, own, limits.offers_per_client_max, key.second));
  }
  if (size() < limits.offers_max) return absl::OkStatus();
  const auto error = [&](uint64_t sequence, const std::string& of) {
    return MakeError(
        ErrorKind::kLimit,
        absl::StrFormat("%s has %d launches that wait for parts of other daemons, which is the limit, and %d "
                        "of them are of %s, who has the most. Launch %d of the group is refused.",
                        where, size(), counts_.OfUser(of), of, sequence));
  };
  const std::string largest = counts_.Largest();
  if (counts_.OfUser(user) >= counts_.OfUser(largest)) return error(key.second, user);
  const LaunchKey latest = LatestOf(largest);
  refuse(latest, error(latest.second, largest));
  return absl::OkStatus();
}

}  // namespace hlod::fabric
