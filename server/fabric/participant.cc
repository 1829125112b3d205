// The devices of one daemon under wound-wait: an earlier launch makes a later one that has not started yield.
//
// Example: launch A (ticket 1) wants d0 of n1 and d0 of n2, launch B (ticket 2) the same. A's prepare is
// first at n1, B's at n2. At n1 B waits, because A is earlier. At n2 B holds d0 when A's prepare arrives: n2
// sends WOUND to B's leader, which has not started B, for B is not ready at n1. It answers YIELD, A is ready
// everywhere, and runs; then B.
#include "server/fabric/participant.h"

#include <algorithm>
#include <utility>

#include "common/base/errors/status.h"
#include "common/rpc/wire.h"
#include "server/fabric/membership.h"

namespace hlod::fabric {
namespace {

// Returns true if two ascending lists have a common number.
bool HaveCommon(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    ++(*x < *y ? x : y);
  }
  return false;
}

bool Intersect(const std::vector<uint32_t>& devices, const std::set<uint32_t>& wanted) {
  return std::ranges::any_of(devices, [&wanted](uint32_t device) { return wanted.contains(device); });
}

}  // namespace

absl::Status Participant::CheckPrepare(uint32_t rank, const v1::PrepareLaunch& launch) const {
  if (launch.launch().leader() != rank)
    return InvalidArgument("It prepares a launch of rank %d.", launch.launch().leader());
  if (orders_.contains({rank, launch.launch().number()}))
    return InvalidArgument("It prepares launch %d twice.", launch.launch().number());
  return CheckParts(launch.digest(), launch.parts(), launch.group() != 0);
}

absl::Status Participant::OnPrepare(uint32_t rank, uint32_t self, const v1::PrepareLaunch& prepare,
                                    int64_t now_us) {
  RETURN_IF_ERROR(CheckPrepare(rank, prepare));
  const auto part = std::find_if(prepare.parts().begin(), prepare.parts().end(),
                                 [self](const v1::LaunchPart& p) { return p.rank() == self; });
  if (part == prepare.parts().end())
    return InvalidArgument("It prepares launch %d, which has no part here.", prepare.launch().number());
  const auto refuse = [&](const absl::Status& why) {
    post_(rank, MakeStep(prepare.launch(), v1::LaunchStep::REFUSED, why));
    return absl::OkStatus();
  };
  if (prepare.group() == 0 && part->devices_size() > 0 && !limits_.unoffered_take_devices) {
    return refuse(InvalidArgument("Launch %d wants %d devices of %s, where no client has offered it.",
                                  prepare.launch().number(), part->devices_size(), name_of_(self)));
  }
  for (const uint32_t device : part->devices()) {
    if (device < device_count_) continue;
    return refuse(InvalidArgument("Device %d is not one of the %d devices of %s.", device, device_count_,
                                  name_of_(self)));
  }
  if (const auto of = counts_.find(rank);
      of != counts_.end() && of->second >= limits_.launches_per_leader_max) {
    return refuse(ResourceExhausted("%s has %d launches of %s already, which is the limit.", name_of_(self),
                                    limits_.launches_per_leader_max, name_of_(rank)));
  }
  const LaunchOrder order{prepare.ticket(), rank, prepare.launch().number()};
  orders_[{rank, order.number}] = order;
  ++counts_[rank];
  Launch& launch = launches_[order];
  launch.prepare = prepare;
  launch.devices.assign(part->devices().begin(), part->devices().end());
  for (const v1::LaunchPart& other : prepare.parts()) {
    if (other.rank() != self) launch.elsewhere.push_back(other.rank());
  }
  launch.told_us = launch.idle_us = launch.since_us = now_us;
  Grant(now_us);
  return absl::OkStatus();
}

const LaunchOrder* Participant::FindBlocker(const LaunchOrder& order, const Launch& launch,
                                            const std::map<uint32_t, LaunchOrder>& wanted, int64_t now_us) {
  const LaunchOrder* blocker = nullptr;
  for (const uint32_t device : launch.devices) {
    if (const auto earlier = wanted.find(device); earlier != wanted.end()) blocker = &earlier->second;
    const auto holder = holders_.find(device);
    if (holder == holders_.end()) continue;
    Launch& holding = launches_.at(holder->second);
    if (order < holder->second && holding.phase == Phase::kTaking) {  // The leader has not heard of it.
      TakeBack(holding, now_us);
      continue;
    }
    blocker = &holder->second;
    if (holder->second < order || holding.phase != Phase::kReady || holding.wounded) continue;
    holding.wounded = true;
    post_(holder->second.leader, MakeStep(holding.prepare.launch(), v1::LaunchStep::WOUND));
  }
  return blocker;
}

void Participant::Grant(int64_t now_us) {
  std::map<uint32_t, LaunchOrder> wanted;  // Devices for which earlier launches wait.
  for (auto next = launches_.begin(); next != launches_.end();) {
    const auto current = next++;
    auto& [order, launch] = *current;
    if (launch.phase != Phase::kWaiting || launch.aside) continue;
    if (const LaunchOrder* const blocker = FindBlocker(order, launch, wanted, now_us); blocker != nullptr) {
      if (launch.behind != *blocker) launch.idle_us = now_us;  // Others have gone on.
      launch.behind = *blocker;
      for (const uint32_t device : launch.devices) wanted.emplace(device, order);
      continue;
    }
    for (const uint32_t device : launch.devices) holders_[device] = order;
    launch.phase = Phase::kTaking;
    launch.since_us = now_us;
    launch.attempt = ++attempts_;
    work_.Prepare(launch.prepare, launch.attempt);
  }
}

void Participant::TakeBack(Launch& launch, int64_t now_us) {
  launch.phase = Phase::kWaiting;
  launch.wounded = false;
  launch.idle_us = now_us;
  Free(launch);
  work_.Release(launch.prepare.launch(), Aborted("Other launches are first."));
}

void Participant::OnPrepared(const v1::LaunchId& id, uint64_t attempt, const absl::Status& status,
                             int64_t now_us) {
  const auto known = orders_.find({id.leader(), id.number()});
  if (known == orders_.end()) return;
  const auto found = launches_.find(known->second);
  Launch& launch = found->second;
  if (launch.phase != Phase::kTaking || launch.attempt != attempt) return;
  if (status.ok()) {
    launch.phase = Phase::kReady;
    launch.since_us = now_us;
    post_(id.leader(), MakeStep(id, v1::LaunchStep::READY));
    return;
  }
  // The attempt is over, so there is nothing to give back.
  Free(launch);
  launch.phase = Phase::kWaiting;
  Refuse(found, status);
  Grant(now_us);
}

void Participant::Free(const Launch& launch) {
  for (const uint32_t device : launch.devices) holders_.erase(device);
}

void Participant::Refuse(Launches::iterator launch, const absl::Status& why) {
  post_(launch->first.leader, MakeStep(launch->second.prepare.launch(), v1::LaunchStep::REFUSED, why));
  Forget(launch, why);
}

void Participant::Forget(Launches::iterator found, const absl::Status& why) {
  const auto& [order, launch] = *found;
  if (launch.phase == Phase::kTaking || launch.phase == Phase::kReady) {
    Free(launch);
    work_.Release(launch.prepare.launch(), why);
  }
  if (launch.prepare.group() != 0)
    work_.OnOfferRefused(launch.prepare.group(), launch.prepare.sequence(), launch.prepare.launch(), why);
  Erase(found);
}

void Participant::Erase(Launches::iterator found) {
  const LaunchOrder order = found->first;
  orders_.erase({order.leader, order.number});
  if (const auto of = counts_.find(order.leader); --of->second == 0) counts_.erase(of);
  launches_.erase(found);
}

absl::Status Participant::OnStep(uint32_t rank, const v1::LaunchStep& step, int64_t now_us) {
  if (step.launch().leader() != rank)
    return InvalidArgument("It steps launch %d of rank %d.", step.launch().number(), step.launch().leader());
  const auto known = orders_.find({rank, step.launch().number()});
  const auto found = known == orders_.end() ? launches_.end() : launches_.find(known->second);
  const bool here = found != launches_.end();
  const Phase phase = here ? found->second.phase : Phase::kWaiting;
  const absl::Status why = step.has_error() ? ReasonOf(step.error()) : absl::OkStatus();
  switch (step.kind()) {
    case v1::LaunchStep::YIELD:
      if (!here || phase != Phase::kReady) break;
      TakeBack(found->second, now_us);
      Grant(now_us);
      return absl::OkStatus();
    case v1::LaunchStep::PASS:
      if (!here || phase != Phase::kReady) break;
      found->second.aside = true;
      found->second.aside_us = kUntilResumed;
      ++found->second.passes;
      TakeBack(found->second, now_us);
      Grant(now_us);
      return absl::OkStatus();
    case v1::LaunchStep::RESUME:
      if (!here || !std::exchange(found->second.aside, false)) return absl::OkStatus();
      found->second.idle_us = now_us;
      Grant(now_us);
      return absl::OkStatus();
    case v1::LaunchStep::START:
      if (!here || phase != Phase::kReady) break;
      found->second.phase = Phase::kStarted;
      found->second.since_us = now_us;
      work_.Start(step.launch());
      return absl::OkStatus();
    case v1::LaunchStep::ABORT:
      if (!here) return absl::OkStatus();  // It was refused here meanwhile.
      if (phase == Phase::kStarted) break;
      Forget(found, why);
      Grant(now_us);
      return absl::OkStatus();
    case v1::LaunchStep::CANCEL:
      if (!here) return absl::OkStatus();  // It has ended here meanwhile.
      if (phase != Phase::kStarted) break;
      work_.Cancel(step.launch(), why);
      return absl::OkStatus();
    default: break;
  }
  return InvalidArgument("Step %s does not fit launch %d here.", v1::LaunchStep::Kind_Name(step.kind()),
                         step.launch().number());
}

void Participant::OnDone(const v1::LaunchId& id, const absl::Status& status, int64_t now_us) {
  const auto known = orders_.find({id.leader(), id.number()});
  if (known == orders_.end()) return;
  const auto found = launches_.find(known->second);
  if (found->second.phase != Phase::kStarted) return;
  if (!found->second.orphaned) {
    v1::PeerMessage done = MakeStep(id, v1::LaunchStep::DONE, status);
    const auto run_us = static_cast<uint64_t>(std::max<int64_t>(1, now_us - found->second.since_us));
    done.mutable_step()->set_used_us(run_us * found->second.devices.size());
    post_(id.leader(), std::move(done));
  }
  Free(found->second);
  Erase(found);
  Grant(now_us);
}

void Participant::OnGone(uint32_t rank, const absl::Status& why, int64_t now_us) {
  for (auto next = launches_.begin(); next != launches_.end();) {
    const auto current = next++;
    auto& [order, launch] = *current;
    if (order.leader != rank || launch.orphaned) continue;
    if (launch.phase == Phase::kStarted) {
      launch.orphaned = true;
      work_.Cancel(launch.prepare.launch(), why);
      continue;
    }
    Forget(current, why);
  }
  Grant(now_us);
}

std::string Participant::DescribeBlocker(const LaunchOrder& order, int64_t now_us) const {
  const auto found = launches_.find(order);
  if (found == launches_.end()) return "one that has just ended";
  const Launch& blocker = found->second;
  return absl::StrCat(Describe(blocker.prepare.launch(), name_of_),
                      blocker.phase == Phase::kStarted ? ", started " : ", prepared ",
                      SecondsOf(now_us - blocker.since_us), " ago");
}

int64_t Participant::HoldUs(const Launch& launch) const {
  if (launch.passes == 0) {
    for (const auto& [order, other] : launches_) {
      if (other.aside && other.aside_us == kUntilResumed && HaveCommon(other.elsewhere, launch.elsewhere))
        return limits_.tell_us;
    }
  }
  return limits_.hold_us(launch.passes);
}

bool Participant::TickWaiting(const LaunchOrder& order, Launch& launch, int64_t now_us) {
  const auto tell = [&](const std::string& behind) {
    if (now_us - launch.told_us <= limits_.tell_us) return;
    launch.told_us = now_us;
    post_(order.leader, MakeStep(launch.prepare.launch(), v1::LaunchStep::QUEUED, Unavailable("%s", behind)));
  };
  if (launch.aside) {
    launch.aside = now_us < launch.aside_us;
    launch.idle_us = now_us;
    tell("others, which it lets pass");
    return true;
  }
  const auto blocker = launches_.find(launch.behind);
  if (blocker != launches_.end()) {
    const Launch& other = blocker->second;
    // Work that runs ends by limits of its own, and so does what waits for it. The launches that wait are
    // looked at in their order, so an earlier one has been. One that is ready lets others pass in time.
    if (other.phase == Phase::kStarted || other.phase == Phase::kTaking ||
        (other.phase == Phase::kReady && now_us - other.since_us <= limits_.hold_us(other.passes)))
      launch.idle_us = now_us;
    if (other.phase == Phase::kWaiting) launch.idle_us = std::max(launch.idle_us, other.idle_us);
  }
  if (now_us - launch.idle_us > limits_.prepare_wait_us) return false;
  tell(DescribeBlocker(launch.behind, now_us));
  return true;
}

void Participant::TickTaking(const LaunchOrder& order, Launch& launch, const std::set<uint32_t>& wanted,
                             int64_t now_us) {
  if (now_us - launch.since_us > limits_.hold_us(0) && Intersect(launch.devices, wanted)) {
    launch.aside = true;
    launch.aside_us = now_us + limits_.tell_us;
    return TakeBack(launch, now_us);
  }
  if (now_us - launch.told_us <= limits_.tell_us) return;
  // The daemon's own work on these devices ends by limits of its own.
  launch.told_us = now_us;
  post_(order.leader, MakeStep(launch.prepare.launch(), v1::LaunchStep::QUEUED,
                               Unavailable("work of its own on these devices, for %s",
                                           SecondsOf(now_us - launch.since_us))));
}

void Participant::TickReady(const LaunchOrder& order, Launch& launch, const std::set<uint32_t>& wanted,
                            int64_t now_us) {
  if (now_us - launch.since_us <= limits_.tell_us || now_us - launch.told_us <= limits_.tell_us) return;
  if (!Intersect(launch.devices, wanted) && !work_.IsWanted(launch.prepare.launch())) return;
  if (now_us - launch.since_us <= HoldUs(launch)) return;
  launch.told_us = now_us;
  post_(order.leader, MakeStep(launch.prepare.launch(), v1::LaunchStep::OVERDUE));
}

void Participant::Tick(int64_t now_us) {
  std::set<uint32_t> wanted;
  for (const auto& [order, launch] : launches_) {
    if (launch.phase == Phase::kWaiting && !launch.aside)
      wanted.insert(launch.devices.begin(), launch.devices.end());
  }
  std::vector<LaunchOrder> late;
  bool changed = false;  // Devices may be given to others.
  for (auto& [order, launch] : launches_) {
    switch (launch.phase) {
      case Phase::kWaiting: {
        const bool aside = launch.aside;
        if (!TickWaiting(order, launch, now_us)) late.push_back(order);
        changed = changed || aside != launch.aside;
        break;
      }
      case Phase::kTaking:
        TickTaking(order, launch, wanted, now_us);
        changed = changed || launch.aside;
        break;
      case Phase::kReady: TickReady(order, launch, wanted, now_us); break;
      case Phase::kStarted: break;
    }
  }
  for (const LaunchOrder& order : late) {
    const auto found = launches_.find(order);
    Refuse(found, DeadlineExceeded("Launch %d waited %s behind %s.", order.number,
                                   SecondsOf(now_us - found->second.since_us),
                                   DescribeBlocker(found->second.behind, now_us)));
  }
  if (changed || !late.empty()) Grant(now_us);
}

}  // namespace hlod::fabric
