// A launch has one of two ends: refused before it starts, and then nothing has happened anywhere; or started
// on all its daemons, and then it ends on all of them, successfully or not. The leader alone decides which.
#include "server/fabric/leader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"

namespace hlod::fabric {

uint64_t Leader::DeviceTime(const Part& part, int64_t us) {
  return static_cast<uint64_t>(std::max<int64_t>(0, us) + 1) * part.devices;
}

uint64_t Leader::Take(LaunchSpec spec, uint32_t self, int64_t now_us) {
  const uint64_t number = ++last_number_;
  Launch& launch = launches_[number];
  launch.spec = std::move(spec);
  launch.since_us = now_us;
  launch.spec.prepare.mutable_launch()->set_leader(self);
  launch.spec.prepare.mutable_launch()->set_number(number);
  now_us_ = now_us;
  for (const v1::LaunchPart& part : launch.spec.prepare.parts())
    launch.parts[part.rank()].devices = static_cast<size_t>(part.devices_size());
  const uint64_t group = launch.spec.prepare.group();
  if (launch.spec.deadline_us != 0) timed_.insert(number);
  if (group != 0) offered_[{group, launch.spec.prepare.sequence()}] = number;
  Enqueue(group, number);
  may_begin_ = true;
  return number;
}

void Leader::Enqueue(uint64_t group, uint64_t number) {
  Queue& queue = queued_[group];
  if (queue.numbers.empty()) turns_[queue.turn = ++last_turn_] = group;
  queue.numbers.push_back(number);
}

bool Leader::HasRoom(const LaunchSpec& spec) const {
  const uint64_t group = spec.prepare.group();
  if (begun_.all() >= limits_.launches_per_leader_max ||
      tickets_due_.size() >= limits_.launches_per_leader_max)
    return false;
  return group == 0 || (begun_.OfClient(group) < limits_.begun_per_client_max &&
                        begun_.OfUser(spec.user) < limits_.begun_per_user_max);
}

void Leader::BeginNext(bool coordinator, int64_t now_us) {
  now_us_ = now_us;
  if (!std::exchange(may_begin_, false)) return;
  // A client whose launch begins goes to the end, so that one with many leaves room to those with few.
  for (auto next = turns_.begin(); next != turns_.end();) {
    const auto [turn, group] = *next;
    Queue& queue = queued_.at(group);
    Launch& launch = launches_.at(queue.numbers.front());
    if (HasRoom(launch.spec)) {
      queue.numbers.pop_front();
      turns_.erase(turn);
      if (queue.numbers.empty()) {
        queued_.erase(group);
      } else {
        turns_[queue.turn = ++last_turn_] = group;
      }
      Begin(launch, coordinator, now_us);
    }
    next = turns_.upper_bound(turn);
  }
}

void Leader::Begin(Launch& launch, bool coordinator, int64_t now_us) {
  begun_.Add(launch.spec.prepare.group(), launch.spec.user);
  timed_.insert(launch.spec.prepare.launch().number());
  launch.phase = Phase::kTicket;
  launch.since_us = now_us;
  if (!coordinator) return Prepare(launch, last_ticket_ + 1, now_us);
  v1::PeerMessage message;
  v1::TicketRequest& request = *message.mutable_ticket_request();
  request.set_number(launch.spec.prepare.launch().number());
  request.set_session(launch.spec.session);
  request.set_user(launch.spec.user);
  request.set_seen(last_ticket_);
  tickets_due_.insert(request.number());
  Use& use = uses_[launch.spec.session];
  use.user = launch.spec.user;
  request.set_used_us(std::exchange(use.untold_us, 0));
  request.set_ahead_us((begun_.OfClient(launch.spec.prepare.group()) - 1) * use.expected_us);
  post_(0, std::move(message));
}

void Leader::TellUses() {
  for (auto next = uses_.begin(); next != uses_.end();) {
    const auto current = next++;
    Use& use = current->second;
    if (use.untold_us > 0) {
      v1::PeerMessage message;
      v1::TicketRequest& request = *message.mutable_ticket_request();
      request.set_session(current->first);
      request.set_user(use.user);
      request.set_used_us(std::exchange(use.untold_us, 0));
      post_(0, std::move(message));
    } else if (begun_.OfClient(current->first) == 0) {
      uses_.erase(current);
    }
  }
}

void Leader::Erase(Launches::iterator found) {
  const LaunchSpec& spec = found->second.spec;
  if (found->second.phase != Phase::kQueued) {
    begun_.Remove(spec.prepare.group(), spec.user);
  } else if (const auto row = queued_.find(spec.prepare.group()); row != queued_.end()) {
    std::erase(row->second.numbers, found->first);
    if (row->second.numbers.empty()) {
      turns_.erase(row->second.turn);
      queued_.erase(row);
    }
  }
  offered_.erase({spec.prepare.group(), spec.prepare.sequence()});
  may_begin_ = !queued_.empty();
  timed_.erase(found->first);
  launches_.erase(found);
}

void Leader::Prepare(Launch& launch, uint64_t ticket, int64_t now_us) {
  SeeTicket(ticket);
  launch.phase = Phase::kPreparing;
  launch.since_us = now_us;
  launch.spec.prepare.set_ticket(ticket);
  v1::PeerMessage message;
  *message.mutable_prepare() = launch.spec.prepare;
  for (auto& [rank, part] : launch.parts) {
    part.heard_us = now_us;
    post_(rank, message);
  }
}

void Leader::OnTicket(const v1::Ticket& ticket, int64_t now_us) {
  may_begin_ |= tickets_due_.erase(ticket.number()) > 0 && !queued_.empty();
  const auto launch = launches_.find(ticket.number());
  if (launch == launches_.end() || launch->second.phase != Phase::kTicket) return;
  Prepare(launch->second, ticket.ticket(), now_us);
}

absl::Status Leader::OnStep(uint32_t rank, const v1::LaunchStep& step, int64_t now_us) {
  now_us_ = now_us;
  const auto launch = launches_.find(step.launch().number());
  if (launch == launches_.end()) return absl::OkStatus();  // It has ended since.
  if (launch->second.phase < Phase::kPreparing || !launch->second.parts.contains(rank))
    return InvalidArgument("It answers launch %d, which has not asked it.", step.launch().number());
  return OnStepOf(launch, rank, step, now_us);
}

absl::Status Leader::OnStepOf(Launches::iterator found, uint32_t rank, const v1::LaunchStep& step,
                              int64_t now_us) {
  Launch& launch = found->second;
  Part& part = launch.parts.at(rank);
  part.heard_us = now_us;
  const bool started = launch.phase == Phase::kStarted;
  switch (step.kind()) {
    case v1::LaunchStep::QUEUED: part.behind = step.error().text(); return absl::OkStatus();
    case v1::LaunchStep::READY:
      if (part.ready) break;
      part.ready = true;
      part.ready_us = now_us;
      GoOn(launch, now_us);
      return absl::OkStatus();
    case v1::LaunchStep::REFUSED:
      if (started || part.ready || !step.has_error()) break;
      part.over = true;
      Refuse(found, Annotate(ReasonOf(step.error()), absl::StrCat("preparing on ", name_of_(rank))));
      return absl::OkStatus();
    case v1::LaunchStep::WOUND:
      GiveBack(launch, rank, v1::LaunchStep::YIELD, now_us);
      return absl::OkStatus();
    case v1::LaunchStep::OVERDUE:
      GiveBack(launch, rank, v1::LaunchStep::PASS, now_us);
      return absl::OkStatus();
    case v1::LaunchStep::DONE:
      if (!started || part.over) break;
      part.over = true;
      // It cannot have run for longer than since its start.
      launch.used_us += std::min(step.used_us(), DeviceTime(part, now_us - launch.since_us));
      if (step.has_error())
        Fail(launch, Annotate(ReasonOf(step.error()), absl::StrCat("running on ", name_of_(rank))));
      FinishIfOver(found);
      return absl::OkStatus();
    default: break;
  }
  return InvalidArgument("Step %s does not fit launch %d.", v1::LaunchStep::Kind_Name(step.kind()),
                         step.launch().number());
}

void Leader::GiveBack(Launch& launch, uint32_t rank, v1::LaunchStep::Kind kind, int64_t now_us) {
  Part& part = launch.parts.at(rank);
  // A launch that has started keeps its devices until it has ended.
  if (launch.phase == Phase::kStarted || !part.ready) return;
  part.ready = false;
  part.passed = kind == v1::LaunchStep::PASS;
  launch.used_us += DeviceTime(part, now_us - part.ready_us);
  post_(rank, MakeStep(launch.spec.prepare.launch(), kind));
}

void Leader::GoOn(Launch& launch, int64_t now_us) {
  bool all_ready = true;
  for (const auto& [rank, part] : launch.parts) {
    if (!part.ready && !part.passed) return;
    all_ready = all_ready && part.ready;
  }
  if (!all_ready) {
    for (auto& [rank, part] : launch.parts) {
      if (std::exchange(part.passed, false))
        post_(rank, MakeStep(launch.spec.prepare.launch(), v1::LaunchStep::RESUME));
    }
    return;
  }
  launch.phase = Phase::kStarted;
  launch.since_us = now_us;
  for (const auto& [rank, part] : launch.parts)
    post_(rank, MakeStep(launch.spec.prepare.launch(), v1::LaunchStep::START));
}

void Leader::Refuse(Launches::iterator found, const absl::Status& why) {
  Launch& launch = found->second;
  if (launch.phase == Phase::kPreparing) {
    for (const auto& [rank, part] : launch.parts) {
      if (!part.over) post_(rank, MakeStep(launch.spec.prepare.launch(), v1::LaunchStep::ABORT, why));
    }
  }
  // The daemons that offered it have not been asked to prepare it yet, so they would wait.
  const v1::PrepareLaunch& prepare = launch.spec.prepare;
  if (launch.phase < Phase::kPreparing && prepare.group() != 0) {
    const v1::PeerMessage message = MakeOfferRefused({prepare.group(), prepare.sequence()}, why);
    for (const auto& [rank, part] : launch.parts) post_(rank, message);
  }
  if (launch.phase == Phase::kPreparing) {
    for (const auto& [rank, part] : launch.parts) {
      if (part.ready) launch.used_us += DeviceTime(part, now_us_ - part.ready_us);
    }
    Charge(launch, launch.used_us);
  }
  const uint64_t number = found->first;
  Erase(found);
  work_.OnOver(number, /*started=*/false, why);
}

void Leader::Fail(Launch& launch, const absl::Status& why) {
  if (!launch.failure.ok()) return;
  launch.failure = why;
  for (const auto& [rank, part] : launch.parts) {
    if (!part.over) post_(rank, MakeStep(launch.spec.prepare.launch(), v1::LaunchStep::CANCEL, why));
  }
}

void Leader::Charge(const Launch& launch, uint64_t used_us) {
  Use& use = uses_[launch.spec.session];
  use.user = launch.spec.user;
  use.expected_us = std::max(used_us, kLaunchMinUs);
  use.untold_us += use.expected_us;
}

void Leader::FinishIfOver(Launches::iterator found) {
  for (const auto& [rank, part] : found->second.parts) {
    if (!part.over) return;
  }
  const uint64_t number = found->first;
  const absl::Status failure = found->second.failure;
  Charge(found->second, found->second.used_us);
  Erase(found);
  work_.OnOver(number, /*started=*/true, failure);
}

void Leader::Cancel(uint64_t number, const absl::Status& why) {
  const auto found = launches_.find(number);
  if (found == launches_.end()) return;
  if (found->second.phase == Phase::kStarted) return Fail(found->second, why);
  Refuse(found, why);
}

bool Leader::TakeBack(uint64_t group, uint64_t sequence, uint32_t rank, const absl::Status& why) {
  const auto number = offered_.find({group, sequence});
  if (number == offered_.end()) return false;
  const auto found = launches_.find(number->second);
  if (!found->second.parts.contains(rank)) return false;
  // The part of a launch that has started ends by itself, and says so.
  if (found->second.phase != Phase::kStarted)
    Refuse(found, Annotate(why, absl::StrCat("preparing on ", name_of_(rank))));
  return true;
}

void Leader::ForgetTickets() {
  tickets_due_.clear();
  may_begin_ = !queued_.empty();
}

void Leader::OnGone(uint32_t rank, const absl::Status& why) {
  if (rank == 0) ForgetTickets();
  std::vector<uint64_t> concerned;
  for (const auto& [number, launch] : launches_) {
    if (launch.parts.contains(rank)) concerned.push_back(number);
  }
  for (const uint64_t number : concerned) {
    const auto found = launches_.find(number);
    if (found == launches_.end()) continue;
    Launch& launch = found->second;
    launch.parts.at(rank).over = true;
    if (launch.phase != Phase::kStarted) {
      Refuse(found, why);
    } else {
      Fail(launch, why);
      FinishIfOver(found);
    }
  }
}

std::string Leader::Missing(const Launch& launch) const {
  std::vector<std::string> names;
  constexpr size_t kNamed = 4;
  size_t missing = 0;
  for (const auto& [rank, part] : launch.parts) {
    if (launch.phase == Phase::kStarted ? part.over : part.ready || part.passed) continue;
    if (++missing > kNamed) continue;
    names.push_back(name_of_(rank));
    if (launch.phase == Phase::kPreparing && !part.behind.empty())
      absl::StrAppend(&names.back(), ", which waits behind ", part.behind);
  }
  std::string text;
  for (const std::string& name : names) absl::StrAppend(&text, text.empty() ? "" : "; ", name);
  if (missing > kNamed) absl::StrAppend(&text, " and ", missing - kNamed, " more");
  return text;
}

absl::Status Leader::CheckTime(const Launch& launch, int64_t now_us) const {
  const uint64_t number = launch.spec.prepare.launch().number();
  const int64_t waited_us = now_us - launch.since_us;
  if (launch.spec.deadline_us != 0 && now_us > launch.spec.deadline_us) {
    return DeadlineExceeded("The deadline of launch %d is over; it has waited %s for %s.", number,
                            SecondsOf(waited_us),
                            launch.phase == Phase::kQueued   ? "earlier launches of its client"
                            : launch.phase == Phase::kTicket ? "a ticket"
                                                             : Missing(launch));
  }
  if (launch.phase == Phase::kTicket && waited_us > limits_.prepare_wait_us) {
    return DeadlineExceeded("Launch %d waited %s for a ticket of the coordinator, %s.", number,
                            SecondsOf(waited_us), name_of_(0));
  }
  if (launch.phase != Phase::kPreparing) return absl::OkStatus();
  for (const auto& [rank, part] : launch.parts) {
    // Daemons that make it wait refuse it in time themselves, so this one cannot be heard.
    if (part.ready || now_us - part.heard_us <= limits_.prepare_wait_us + 2 * limits_.tell_us) continue;
    return DeadlineExceeded("Launch %d waited %s for %s.", number, SecondsOf(waited_us), Missing(launch));
  }
  return absl::OkStatus();
}

void Leader::Tick(bool coordinator, int64_t now_us) {
  now_us_ = now_us;
  if (coordinator) {
    TellUses();
  } else {
    ForgetTickets();
  }
  std::vector<uint64_t> late, unordered;
  for (const uint64_t number : timed_) {
    const Launch& launch = launches_.at(number);
    if (!CheckTime(launch, now_us).ok()) {
      late.push_back(number);
    } else if (launch.phase == Phase::kTicket && !coordinator) {
      unordered.push_back(number);
    }
  }
  for (const uint64_t number : late) {
    const auto found = launches_.find(number);
    if (found != launches_.end()) Cancel(number, CheckTime(found->second, now_us));
  }
  // The coordinator is gone, and a number later than all seen will do: daemons resolve conflicts in any
  // order.
  for (const uint64_t number : unordered) {
    const auto found = launches_.find(number);
    if (found != launches_.end()) Prepare(found->second, last_ticket_ + 1, now_us);
  }
}

}  // namespace hlod::fabric
