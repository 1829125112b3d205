// Tickets by time used. A ticket is a virtual time, after the tickets of earlier coordinators.
//
// Example: A's launch gets ticket 1 and uses 5 s. A's next one gets 5,000,001. B, which is new, gets 1, and
// is first, and so are its next launches until they have used 5 s, too.
#include "server/fabric/tickets.h"

#include <algorithm>

#include "server/fabric/work.h"

namespace hlod::fabric {
namespace {

// Forgets rows that begin anew without a difference when there are `most`, which it changes, or any when
// there are twice as many as are to be kept. It goes through all rows once in a while only.
template <typename Rows, typename TimeOf>
void Limit(Rows& rows, size_t& most, size_t kept, uint64_t virtual_us, TimeOf time_of) {
  if (rows.size() <= most) return;
  const bool any = rows.size() > 2 * kept;
  absl::erase_if(rows, [&](const auto& row) { return any || time_of(row.second) <= virtual_us; });
  most = std::max(kept, rows.size() + kept / 8);
}

}  // namespace

Tickets::Row& Tickets::Find(Accounts& accounts, uint64_t session, const std::string& user) const {
  Limit(accounts.sessions, accounts.sessions_max, kRowsMax, virtual_us_,
        [](const Row& row) { return row.finish_us; });
  Limit(accounts.users, accounts.users_max, kRowsMax, virtual_us_,
        [](uint64_t finish_us) { return finish_us; });
  const auto [found, is_new] = accounts.sessions.try_emplace(session);
  if (is_new) {
    const auto debt = accounts.users.find(user);
    found->second.finish_us = std::max(virtual_us_, debt == accounts.users.end() ? 0 : debt->second);
    found->second.start_us = found->second.finish_us;
  }
  return found->second;
}

uint64_t Tickets::Next(uint32_t leader, uint64_t session, const std::string& user, uint64_t ahead_us,
                       uint64_t seen) {
  seen = std::min(seen, kTicketMax);
  // From now on the earliest ticket is that of a client without debts, and all keep theirs.
  if (seen > last_) offset_us_ = std::max(offset_us_, (last_ = seen) - virtual_us_);
  Row& row = Find(leaders_[leader], session, user);
  row.start_us = std::max(virtual_us_, row.finish_us);
  const uint64_t ticket = offset_us_ + row.start_us + std::min(ahead_us, kDebtMaxUs) + 1;
  last_ = std::max(last_, ticket);
  return ticket;
}

void Tickets::Charge(uint32_t leader, uint64_t session, const std::string& user, uint64_t used_us) {
  Accounts& accounts = leaders_[leader];
  Row& row = Find(accounts, session, user);
  virtual_us_ = std::max(virtual_us_, row.start_us);
  row.finish_us =
      std::min(std::max(row.start_us, row.finish_us) + std::clamp<uint64_t>(used_us, 1, kDebtMaxUs),
               virtual_us_ + kDebtMaxUs);
  uint64_t& debt = accounts.users[user];
  debt = std::max(debt, row.finish_us);
}

void Claims::OnTicket(uint32_t leader, int64_t now_us) {
  const auto [row, is_new] = leaders_.try_emplace(leader);
  if (is_new) row->second.since_us = now_us;
  ++row->second.launches;
}

uint64_t Claims::Believe(uint32_t leader, uint64_t used_us, uint64_t devices, int64_t now_us) {
  const auto found = leaders_.find(leader);
  if (found == leaders_.end()) return 0;
  Row& row = found->second;
  // Times are rounded up, by device, and a launch counts as a millisecond at least.
  const uint64_t possible = static_cast<uint64_t>(std::max<int64_t>(0, now_us - row.since_us)) * devices +
                            row.launches * (kLaunchMinUs + devices);
  const uint64_t believed = std::min(used_us, possible - std::min(possible, row.used_us));
  row.used_us += believed;
  return believed;
}

}  // namespace hlod::fabric
