// Launches that wait on behalf of clients and users, and the rule by which one of them makes room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// Not thread-safe.
class Crowd {
 public:
  void Add(const LaunchKey& key, const std::string& user);
  // Removes a launch, which was added.
  void Remove(const LaunchKey& key);
  size_t size() const { return turns_.size(); }
  // Returns the launch to lose if there are too many: the latest of the user with the most. There is one.
  LaunchKey Last() const { return LatestOf(counts_.Largest()); }

  // Returns an error if a client has too many launches to add another one, or a user if all have too many. If
  // another user has more, that one loses its latest instead: `refuse` must remove it. `where` is the name of
  // the daemon at which they wait.
  absl::Status MakeRoom(const LaunchKey& key, const std::string& user, const LaunchLimits& limits,
                        const std::string& where,
                        absl::FunctionRef<void(const LaunchKey&, const absl::Status&)> refuse) const;

 private:
  LaunchKey LatestOf(const std::string& user) const;

  LaunchCounts counts_;
  uint64_t last_turn_ = 0;  // Counts the launches in the order in which they came.
  std::map<LaunchKey, std::pair<std::string, uint64_t>> turns_;     // The user and the turn.
  std::map<std::pair<std::string, uint64_t>, LaunchKey> of_users_;  // The reverse.
};

}  // namespace hlod::fabric
