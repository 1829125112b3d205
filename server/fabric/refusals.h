// Launches that were refused before all daemons had offered them: those that come late get the same reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

struct Refusal {
  absl::Status why;
  std::string user;
  std::set<uint32_t> late;  // The daemons that do not know it yet.
  // Unless it is empty: only these daemons were refused, or take the launch back. Whether they have parts in
  // it is not known before the own offer comes.
  std::set<uint32_t> only;
  int64_t since_us = 0;
};

// Not thread-safe.
class Refusals {
 public:
  // When there are more than `max`, the user with the most loses the latest.
  explicit Refusals(size_t max) : max_(max) {}
  // Keeps a refusal while daemons do not know it, and for a while.
  void Remember(const LaunchKey& key, Refusal refusal);
  // Returns the refusal of a launch; null if there is none.
  const Refusal* Find(const LaunchKey& key) const;
  // Forgets the refusal of a launch, which has one, and returns it.
  Refusal Take(const LaunchKey& key);
  // Notes that a daemon knows the refusal of a launch, which has one.
  void OnTold(const LaunchKey& key, uint32_t rank);
  // Forgets those that are older.
  void Tick(int64_t now_us, int64_t age_us);

 private:
  struct Row {
    Refusal refusal;
    uint64_t turn = 0;  // Counts them in the order in which they came.
  };
  void Forget(std::map<LaunchKey, Row>::iterator row);

  const size_t max_;
  uint64_t last_turn_ = 0;
  std::map<LaunchKey, Row> rows_;
  LaunchCounts counts_;
  std::map<std::pair<std::string, uint64_t>, LaunchKey> turns_;  // By user and turn.
};

}  // namespace hlod::fabric
