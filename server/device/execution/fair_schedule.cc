// Chooses the next job, and accounts for the time that each session has used.
#include "server/device/execution/fair_schedule.h"

#include <algorithm>
#include <utility>

namespace hlod::device {

std::vector<FairSchedule::RunningJob> FairSchedule::ListRunning(int64_t now_us) const {
  std::vector<RunningJob> list;
  for (const Running& running : running_) list.push_back({running.session, now_us - running.start_us});
  return list;
}

bool FairSchedule::OthersWait(uint64_t session) const {
  return std::ranges::any_of(
      sessions_, [session](const auto& row) { return row.first != session && !row.second.waiting.empty(); });
}

bool FairSchedule::IsRunning(uint64_t session) const {
  return std::any_of(running_.begin(), running_.end(),
                     [session](const Running& running) { return running.session == session; });
}

int64_t FairSchedule::UsedUs(uint64_t id, const Session& session, int64_t now_us) const {
  int64_t used_us = session.used_us;
  for (const Running& running : running_) {
    if (running.session == id) used_us += now_us - running.start_us;
  }
  return used_us;
}

int64_t FairSchedule::StartableUs(uint64_t session, double expected_us) const {
  if (running_.size() < static_cast<size_t>(options_.width)) return 0;
  if (options_.beside_us_max <= 0 || expected_us > options_.beside_us_max || IsRunning(session))
    return kNever;
  if (expected_us < options_.tiny_us) return 0;
  const double usual_us =
      std::max(expected_us, std::min(10 * expected_us, static_cast<double>(kBesideMinUs)));
  const auto wait_us = static_cast<int64_t>(std::clamp(
      usual_us, static_cast<double>(options_.beside_wait_us_min), static_cast<double>(kBesideMaxUs)));
  int64_t at_us = 0;
  for (const Running& running : running_) {
    if (!running.tiny) at_us = std::max(at_us, running.start_us + wait_us);
  }
  return at_us;
}

std::optional<uint64_t> FairSchedule::OwnerOf(uint64_t session) const {
  const auto found = owners_.find(session);
  return found == owners_.end() ? std::nullopt : std::optional(found->second);
}

int64_t FairSchedule::StartingUs(uint64_t session) const {
  const std::optional<uint64_t> owner = OwnerOf(session);
  const auto debt = owner.has_value() ? debts_.find(*owner) : debts_.end();
  return debt == debts_.end() ? virtual_us_ : std::max(virtual_us_, debt->second);
}

void FairSchedule::KeepDebt(std::optional<uint64_t> owner, int64_t used_us) noexcept try {
  if (!owner.has_value() || used_us <= virtual_us_) return;
  int64_t& debt = debts_[*owner];
  debt = std::max(debt, used_us);
} catch (const std::exception&) {  // Without memory for the debt, it is remitted.
}

FairSchedule::Session& FairSchedule::Activate(uint64_t session) {
  const auto [found, is_new] = sessions_.try_emplace(session);
  Session& entry = found->second;
  if (is_new || (entry.waiting.empty() && !IsRunning(session))) {
    entry.used_us = std::max(entry.used_us, is_new ? StartingUs(session) : virtual_us_);
    entry.turn = ++last_turn_;
  }
  return entry;
}

uint64_t FairSchedule::Run(uint64_t session, double expected_us, int64_t now_us) {
  Running added{++last_id_, session, now_us, false, OwnerOf(session), expected_us < options_.tiny_us};
  for (Running& other : running_) {
    // A tiny job holds too little memory to be the reason why a longer one finds none.
    added.accompanied |= added.tiny || !other.tiny;
    other.accompanied |= other.tiny || !added.tiny;
  }
  running_.push_back(added);
  return last_id_;
}

void FairSchedule::Add(uint64_t session, double expected_us, Job job) {
  Activate(session).waiting.push_back({expected_us, std::move(job)});
  ++waiting_;
}

std::optional<uint64_t> FairSchedule::StartHere(uint64_t session, double expected_us, int64_t now_us) {
  if (StartableUs(session, expected_us) > now_us) return std::nullopt;
  if (waiting_ > 0) {
    const auto own = sessions_.find(session);
    if (own != sessions_.end() && !own->second.waiting.empty()) return std::nullopt;
    if (expected_us >= options_.tiny_us && NextStartUs() <= now_us) return std::nullopt;
  }
  // A job that runs alone needs no entry: its time is not charged if no job waits at its end.
  if (!running_.empty()) Activate(session).turn = ++last_turn_;
  return Run(session, expected_us, now_us);
}

std::optional<FairSchedule::Started> FairSchedule::Start(int64_t now_us) {
  if (waiting_ == 0) return std::nullopt;
  uint64_t best_id = 0;
  Session* best = nullptr;
  int64_t best_us = 0;
  for (auto& [id, session] : sessions_) {
    if (session.waiting.empty() || session.blocked ||
        StartableUs(id, session.waiting.front().expected_us) > now_us)
      continue;
    const int64_t used_us = UsedUs(id, session, now_us);
    if (best != nullptr && std::pair(used_us, session.turn) > std::pair(best_us, best->turn)) continue;
    best_id = id;
    best = &session;
    best_us = used_us;
  }
  if (best == nullptr) return std::nullopt;
  virtual_us_ = std::max(virtual_us_, best_us);
  best->turn = ++last_turn_;
  const double expected_us = best->waiting.front().expected_us;
  Started started{Run(best_id, expected_us, now_us), best_id, std::move(best->waiting.front().job)};
  best->waiting.pop_front();
  --waiting_;
  return started;
}

int64_t FairSchedule::NextStartUs() const {
  int64_t next_us = kNever;
  if (waiting_ == 0) return next_us;
  for (const auto& [id, session] : sessions_) {
    if (session.waiting.empty() || session.blocked) continue;
    next_us = std::min(next_us, StartableUs(id, session.waiting.front().expected_us));
  }
  return next_us;
}

void FairSchedule::Complete(uint64_t id, int64_t now_us) {
  const auto found = std::find_if(running_.begin(), running_.end(),
                                  [id](const Running& running) { return running.id == id; });
  if (found == running_.end()) return;  // It continued without an entry, for want of memory.
  const Running over = *found;
  running_.erase(found);
  try {
    ChargeRun(over, now_us);
  } catch (const std::exception&) {  // Without memory for the session's entry, its time is remitted.
  }
}

void FairSchedule::ChargeRun(const Running& over, int64_t now_us) {
  if (waiting_ == 0 && running_.empty()) {
    sessions_.clear();
    debts_.clear();
    virtual_us_ = 0;
    return;
  }
  // First, so that no session stays blocked.
  for (auto& [session, other] : sessions_) {
    if (session != over.session) other.blocked = false;
  }
  const auto [entry, is_new] = sessions_.try_emplace(over.session);
  Session& own = entry->second;
  if (is_new) own.used_us = StartingUs(over.session);
  own.used_us = std::min(own.used_us + (now_us - over.start_us), virtual_us_ + kDebtMaxUs);
  if (over.owner.has_value() && !owners_.contains(over.session)) {  // The session has ended.
    const int64_t used_us = own.used_us;
    KeepDebt(over.owner, used_us);
    sessions_.erase(over.session);
    // The owner may have another session already.
    for (auto& [session, other] : sessions_) {
      if (OwnerOf(session) == over.owner) other.used_us = std::max(other.used_us, used_us);
    }
  }
  absl::erase_if(sessions_, [this](const auto& e) {
    return e.second.waiting.empty() && e.second.used_us <= virtual_us_ && !IsRunning(e.first);
  });
  absl::erase_if(debts_, [this](const auto& debt) { return debt.second <= virtual_us_; });
}

uint64_t FairSchedule::Resume(uint64_t session, int64_t now_us) noexcept try {
  if (!running_.empty()) Activate(session).turn = ++last_turn_;
  return Run(session, options_.tiny_us, now_us);
} catch (const std::exception&) {  // Without memory for an entry, the job continues uncounted.
  return 0;
}

bool FairSchedule::Postpone(uint64_t session, double expected_us, Job again) {
  const auto own = std::find_if(running_.begin(), running_.end(),
                                [session](const Running& running) { return running.session == session; });
  // The other job may belong to the same session, which continued after a wait: its end would not unblock the
  // session.
  const auto own_jobs = std::ranges::count(running_, session, &Running::session);
  if (own == running_.end() || !own->accompanied || own_jobs > 1) return false;
  Session& entry = Activate(session);
  entry.waiting.push_front({expected_us, std::move(again)});
  entry.blocked = running_.size() > 1;
  ++waiting_;
  return true;
}

std::list<FairSchedule::Waiting> FairSchedule::Discard(uint64_t session) {
  std::list<Waiting> gone;
  const std::optional<uint64_t> owner = OwnerOf(session);
  owners_.erase(session);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return gone;
  gone.swap(found->second.waiting);
  waiting_ -= static_cast<int64_t>(gone.size());
  KeepDebt(owner, found->second.used_us);
  if (!IsRunning(session)) sessions_.erase(found);
  return gone;
}

std::list<FairSchedule::Waiting> FairSchedule::DiscardAll() {
  std::list<Waiting> gone;
  for (auto& [id, session] : sessions_) gone.splice(gone.end(), session.waiting);
  waiting_ = 0;
  return gone;
}

}  // namespace hlod::device
