// The order of launches: the coordinator gives earlier tickets to clients that have used less device time.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace hlod::fabric {

// Start-time fair queueing, as FairSchedule does it for the jobs of one device. The daemons measure what a
// client's launches use of their devices; a client's virtual time is the sum, but it is never behind the
// virtual time of the launches that were served last, so that a pause earns nothing. New clients of a user
// begin with the user's debt, so that a new session earns nothing either.
//
// Leaders say which client and which user a launch is of, and what it has used, and nothing shows that it is
// true. So each leader has accounts of its own: what it says concerns the launches that it leads, and a user
// whose launches several daemons lead has an account with each.
class Tickets {
 public:
  // The most by which a client is behind the others, then its next launch is due: a day of a device, which is
  // ten minutes of 144. It also bounds what a daemon may say that a launch has used.
  static constexpr uint64_t kDebtMaxUs = 86'400'000'000;

  // Returns the ticket of a launch; earlier ones that have not ended are expected to use `ahead_us`. `seen`
  // is the latest ticket that the launch's leader says it knows: one that was not given here was given by a
  // coordinator before this one, and none is given that is not later. What clients have used stays as it was,
  // whatever a leader says.
  uint64_t Next(uint32_t leader, uint64_t session, const std::string& user, uint64_t ahead_us,
                uint64_t seen = 0);
  // Adds what launches of the session have used that this daemon leads.
  void Charge(uint32_t leader, uint64_t session, const std::string& user, uint64_t used_us);

 private:
  static constexpr size_t kRowsMax = 4096;  // The most clients of a leader, and the most users.
  struct Row {
    uint64_t start_us = 0;   // The virtual time at which the launch began that got the last ticket.
    uint64_t finish_us = 0;  // The virtual time of the session.
  };
  struct Accounts {
    absl::flat_hash_map<uint64_t, Row> sessions;
    absl::flat_hash_map<std::string, uint64_t> users;  // The latest virtual time of a user's sessions.
    // The numbers of rows at which the next are to be forgotten.
    size_t sessions_max = kRowsMax, users_max = kRowsMax;
  };
  Row& Find(Accounts& accounts, uint64_t session, const std::string& user) const;

  uint64_t virtual_us_ = 0;  // The latest start of a launch that was served.
  uint64_t offset_us_ = 0;   // The ticket at virtual time 0.
  uint64_t last_ = 0;        // The latest ticket.
  absl::flat_hash_map<uint32_t, Accounts> leaders_;
};

// Bounds what a leader may say that launches have used: no more, all together, than all devices of the
// cluster could have worked since it asked for its first ticket, as the coordinator measures it. What
// launches have used that began without this coordinator is not counted.
class Claims {
 public:
  // A leader asks for a ticket.
  void OnTicket(uint32_t leader, int64_t now_us);
  // Returns what is believed of `used_us`. The cluster has `devices`.
  uint64_t Believe(uint32_t leader, uint64_t used_us, uint64_t devices, int64_t now_us);
  // A leader is gone.
  void Forget(uint32_t leader) { leaders_.erase(leader); }

 private:
  struct Row {
    int64_t since_us = 0;   // The time of the first ticket.
    uint64_t launches = 0;  // The tickets: each launch is charged for a little more than it takes.
    uint64_t used_us = 0;
  };
  absl::flat_hash_map<uint32_t, Row> leaders_;
};

}  // namespace hlod::fabric
