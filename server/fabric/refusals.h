// Launches that were refused before all daemons had offered them: those that come late get the same reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/fabric/crowd.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// Only launches that this daemon's own session has offered are here. Not thread-safe.
class Refusals {
 public:
  // When there are more than `max`, the user with the most loses the latest.
  Refusals(size_t max, Post post) : max_(max), post_(std::move(post)) {}
  // Keeps the reason for which a user's launch was refused while these daemons do not know it, and for a
  // while. The launch must have been forgotten, if it was refused before.
  void Remember(const LaunchKey& key, const absl::Status& why, const std::string& user,
                std::set<uint32_t> late, int64_t until_us);
  // Tells a daemon that comes late with its offer. Returns false if it does not.
  bool Answer(uint32_t rank, const v1::LaunchOffer& offer);
  void Tick(int64_t now_us);

 private:
  struct Refusal {
    absl::Status why;
    std::set<uint32_t> late;  // The daemons that do not know it yet.
    int64_t until_us = 0;
  };
  using Rows = std::map<LaunchKey, Refusal>;
  void Forget(Rows::iterator row);

  const size_t max_;
  const Post post_;
  Rows rows_;
  Crowd crowd_;
};

}  // namespace hlod::fabric
