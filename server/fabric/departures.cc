// Keeps the latest groups per daemon.
#include "server/fabric/departures.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "common/base/errors/error.h"

namespace hlod::fabric {

void Departures::Note(uint32_t rank, uint64_t group) {
  if (Has(rank, group)) return;
  std::deque<uint64_t>& groups = groups_[rank];
  groups.push_back(group);
  if (groups.size() > kGroupsMax) groups.pop_front();
}

bool Departures::Has(uint32_t rank, uint64_t group) const {
  const auto found = groups_.find(rank);
  return found != groups_.end() && std::ranges::find(found->second, group) != found->second.end();
}

absl::Status ProcessHasEnded(const std::string& daemon) {
  return MakeError(
      ErrorKind::kLostDaemon,
      absl::StrFormat(
          "The process with a part on %s has ended, or has lost its session: its own output says why. If it "
          "says nothing, it has launched fewer programs than the others: where it left one out, for example "
          "after an error that it caught, its next launch was taken for that one.",
          daemon));
}

}  // namespace hlod::fabric
