// The bus, the daemons' work, and the invariants.
#include "tests/unit/server/fabric/simulation.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"

namespace hlod::fabric {
namespace {

constexpr size_t kViolationsKept = 20;

}  // namespace

// A daemon: its group machine, and the work that it does.
struct Simulation::Daemon : public Wire, public Work {
  Daemon(Simulation& s, uint32_t r) : simulation(s), rank(r) {}

  void Send(LinkId link, const v1::PeerMessage& message) override { simulation.Send(link, message); }
  void End(LinkId link, const absl::Status& why) override { simulation.End(link, why); }
  void Connect(uint32_t to, const std::string& address) override { simulation.Connect(rank, address, to); }

  // Takes a while, during which the machine may release the launch.
  void Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) override {
    const uint64_t key = Id(launch.launch());
    if (!prepared.emplace(key, attempt).second) simulation.Violation("a launch is prepared twice");
    if (launch.group() != 0) offered.erase({launch.group(), launch.sequence()});
    const bool refused = simulation.Chance() < simulation.options_.refusals;
    if (Record* const record = simulation.Find(launch.launch(), rank); record != nullptr && !refused)
      record->joined[rank] = Joined(launch.launch().leader());
    const absl::Status status = refused ? ResourceExhausted("No memory.") : absl::OkStatus();
    const auto end = [this, id = launch.launch(), attempt, status, born = incarnation] {
      simulation.On(rank, born, [this, id, attempt, status](Group& g) {
        const auto found = prepared.find(Id(id));
        const bool current = found != prepared.end() && found->second == attempt;
        if (current && !status.ok()) prepared.erase(found);
        g.OnPrepared(id, attempt, status, simulation.now_us_);
      });
    };
    const auto most = static_cast<uint64_t>(simulation.options_.take_us);
    int64_t at_us = simulation.now_us_ + (most == 0 ? 0 : static_cast<int64_t>(simulation.random_() % most));
    for (const v1::LaunchPart& part : launch.parts()) {
      if (part.rank() != rank) continue;
      for (const uint32_t device : part.devices()) {
        const auto found = simulation.occupied_.find({rank, device});
        if (found != simulation.occupied_.end()) at_us = std::max(at_us, found->second);
      }
    }
    simulation.At(at_us, end);
  }
  absl::Status Charge(const Payer& payer, int64_t bytes) override {
    int64_t& sum = charged[payer];
    if (sum + bytes > simulation.options_.offer_bytes_max)
      return ResourceExhausted("%s of rank %d has no room for offers.", payer.user,
                               payer.rank.value_or(rank));
    sum += bytes;
    return absl::OkStatus();
  }
  void Discharge(const Payer& payer, int64_t bytes) override {
    const auto found = charged.find(payer);
    if (found == charged.end() || (found->second -= bytes) < 0)
      return simulation.Violation("memory is given back that was not charged");
    if (found->second == 0) charged.erase(found);
  }
  void Release(const v1::LaunchId& launch, const absl::Status&) override {
    if (prepared.erase(Id(launch)) == 0) simulation.Violation("a launch is released that is not prepared");
  }
  void Start(const v1::LaunchId& launch) override;
  void Cancel(const v1::LaunchId& launch, const absl::Status& why) override {
    if (!started.contains(Id(launch))) return;
    Done(launch, why, simulation.options_.delay_us);
  }
  void Done(const v1::LaunchId& launch, const absl::Status& status, int64_t after_us) {
    simulation.At(simulation.now_us_ + after_us, [this, launch, status, born = incarnation] {
      simulation.On(rank, born, [this, launch, status](Group& g) {
        if (started.erase(Id(launch)) > 0) g.OnDone(launch, status, simulation.now_us_);
      });
    });
  }
  void OnOver(uint64_t number, bool started_all, const absl::Status& status) override;
  void OnOfferRefused(uint64_t of_group, uint64_t sequence, const v1::LaunchId&,
                      const absl::Status& why) override {
    offered.erase({of_group, sequence});
    ++simulation.counts_.offers_refused;
    if (why.message().find("differs") != absl::string_view::npos) ++simulation.counts_.mismatches;
    simulation.reasons_.emplace_back(why.message());
  }
  // Identifies the membership of this daemon and another one, as this daemon knows it.
  std::string Joined(uint32_t other) const {
    const Membership& membership = group->membership();
    const v1::Member* const member = membership.MemberOf(other);
    return membership.self().SerializeAsString() + (member == nullptr ? "" : member->SerializeAsString());
  }
  static uint64_t Id(const v1::LaunchId& launch) {
    return (uint64_t{launch.leader()} << 40) | launch.number();
  }

  Simulation& simulation;
  const uint32_t rank;
  uint64_t incarnation = 0;
  bool stopped = false;
  std::vector<std::function<void()>> held;  // Events that happen once it continues.
  std::unique_ptr<Group> group;
  std::map<uint64_t, uint64_t> prepared;  // By launch, the attempt.
  std::set<uint64_t> started;
  std::set<std::pair<uint64_t, uint64_t>> offered;
  std::map<Payer, int64_t> charged;  // By user.
};

void Simulation::Daemon::Start(const v1::LaunchId& launch) {
  if (prepared.erase(Id(launch)) == 0) simulation.Violation("a launch starts that is not prepared");
  started.insert(Id(launch));
  if (Record* const record = simulation.Find(launch, rank)) {
    if (++record->consumed[rank] > 1) simulation.Violation("a launch starts twice");
    if (record->over && !record->started) simulation.Violation("a refused launch starts");
    record->started = true;
  }
  const bool fails = simulation.Chance() < simulation.options_.failures;
  auto run_us = static_cast<int64_t>(std::exponential_distribution<>(
      1.0 / static_cast<double>(simulation.options_.run_us))(simulation.random_));
  if (const auto set = simulation.run_times_.find(launch.leader()); set != simulation.run_times_.end())
    run_us = set->second;
  Done(launch, fails ? Internal("The part fails.") : absl::OkStatus(), run_us);
}

void Simulation::Daemon::OnOver(uint64_t number, bool started_all, const absl::Status& status) {
  Record& record = simulation.records_[{rank, incarnation, number}];
  if (record.over) simulation.Violation("a launch ends twice");
  record.over = true;
  if (!started_all && record.started) simulation.Violation("a launch is refused that has started");
  record.started = started_all;
  Counts& counts = simulation.counts_;
  if (status.ok()) {
    ++counts.succeeded;
    counts.latency_us += simulation.now_us_ - record.begun_us;
    return;
  }
  ++(started_all ? counts.failed : counts.refused);
  simulation.reasons_.emplace_back(status.message());
}

Simulation::Simulation(const SimulationOptions& options) : options_(options), random_(options.seed) {
  for (uint32_t rank = 0; rank < options.daemons; ++rank) {
    daemons_.push_back(std::make_unique<Daemon>(*this, rank));
    Begin(rank);
  }
}

Simulation::~Simulation() = default;

Group& Simulation::group(uint32_t rank) { return *daemons_[rank]->group; }
bool Simulation::alive(uint32_t rank) const { return daemons_[rank]->group != nullptr; }
bool Simulation::stopped(uint32_t rank) const { return daemons_[rank]->stopped; }

void Simulation::Violation(const std::string& text) {
  if (violations_.size() < kViolationsKept)
    violations_.push_back(absl::StrCat("at ", now_us_, " us, seed ", options_.seed, ": ", text));
}

void Simulation::At(int64_t time_us, std::function<void()> f) {
  queue_.push({std::max(time_us, now_us_), ++events_, std::move(f)});
}

bool Simulation::Run(int64_t until_us, const std::function<bool()>& done) {
  while (!queue_.empty() && queue_.top().time_us <= until_us) {
    now_us_ = queue_.top().time_us;
    const std::function<void()> run = queue_.top().run;
    queue_.pop();
    run();
    if (done()) return true;
  }
  now_us_ = std::max(now_us_, until_us);
  return done();
}

void Simulation::Begin(uint32_t rank) {
  Daemon& daemon = *daemons_[rank];
  daemon.incarnation = ++incarnations_;
  daemon.prepared.clear();
  daemon.started.clear();
  daemon.offered.clear();
  daemon.charged.clear();
  MembershipOptions options;
  options.cluster = "simulated";
  options.version = "hlod";
  options.self.set_name(absl::StrCat("n", rank));
  options.self.set_address(absl::StrCat(rank));
  options.self.set_incarnation(daemon.incarnation);
  options.self.set_devices(options_.devices);
  options.peer_silence_us = options_.silence_us;
  options.resend_us = 4 * (options_.delay_us + options_.jitter_us) + options_.tick_us;
  options.size = options_.daemons;
  if (rank != 0) {
    options.join = "0";
    options.rank = rank;
  }
  daemon.group = std::make_unique<Group>(options, options_.limits, daemon, daemon);
  const int64_t first = static_cast<int64_t>(random_() % static_cast<uint64_t>(options_.tick_us));
  At(now_us_ + first, [this, rank, born = daemon.incarnation] { Tick(rank, born); });
}

void Simulation::Tick(uint32_t rank, uint64_t incarnation) {
  Daemon& daemon = *daemons_[rank];
  if (daemon.group == nullptr || daemon.incarnation != incarnation) return;
  if (!daemon.stopped) On(rank, incarnation, [this](Group& group) { group.Tick(now_us_); });
  At(now_us_ + options_.tick_us, [this, rank, incarnation] { Tick(rank, incarnation); });
}

void Simulation::On(uint32_t rank, uint64_t incarnation, const std::function<void(Group&)>& f) {
  Daemon& daemon = *daemons_[rank];
  if (daemon.group == nullptr || daemon.incarnation != incarnation) return;
  if (daemon.stopped) {
    daemon.held.push_back([this, rank, incarnation, f] { On(rank, incarnation, f); });
    return;
  }
  f(*daemon.group);
  CheckDevices(rank);
}

int64_t Simulation::Delay() {
  return options_.delay_us +
         (options_.jitter_us > 0 ? static_cast<int64_t>(random_() % static_cast<uint64_t>(options_.jitter_us))
                                 : 0);
}

void Simulation::Connect(uint32_t from, const std::string& address, uint32_t rank) {
  const auto to = static_cast<uint32_t>(std::atoi(address.c_str()));
  const uint64_t born = daemons_[from]->incarnation;
  At(now_us_ + 2 * Delay(), [this, from, to, rank, born] {
    On(from, born, [this, from, to, rank](Group& group) {
      if (!alive(to)) return group.OnUnconnected(rank, now_us_);
      const LinkId mine = ++links_made_, other = ++links_made_;
      links_[mine] = {.from = from, .to = to, .other = other};
      links_[other] = {.from = to, .to = from, .other = mine};
      group.OnConnected(mine, rank, now_us_);
    });
  });
}

void Simulation::Send(LinkId id, const v1::PeerMessage& message) {
  const auto found = links_.find(id);
  if (found == links_.end() || !found->second.open) return;
  Link& link = found->second;
  if (message.sequence() != 0 && !message.has_change() && !message.has_unreachable()) ++counts_.messages;
  if (cuts_.contains({link.from, link.to})) return;
  // A greeting arrives, or its connection ends; so it is not lost alone.
  const bool greeting = message.has_hello() || message.has_welcome();
  if (!greeting && Chance() < options_.loss) return;
  int64_t arrival = now_us_ + Delay();
  if (greeting) link.not_before_us = arrival;
  arrival = std::max(arrival, link.not_before_us);
  At(arrival, [this, other = link.other, to = link.to, born = daemons_[link.to]->incarnation, message] {
    On(to, born, [this, other, message](Group& group) {
      const auto end = links_.find(other);
      if (end == links_.end() || !end->second.open) return;
      const absl::Status status = group.OnLinkMessage(other, message, now_us_);
      if (status.ok()) return;
      if (status.message().find("broke the protocol") != absl::string_view::npos)
        Violation(std::string(status.message()));
      End(other, status);
    });
  });
}

void Simulation::End(LinkId id, const absl::Status& why) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  const Link link = found->second;
  links_.erase(found);
  if (cuts_.contains({link.from, link.to})) return;  // The other side is not told either.
  At(now_us_ + Delay(), [this, link, why, born = daemons_[link.to]->incarnation] {
    On(link.to, born, [this, link, why](Group& group) {
      if (links_.erase(link.other) > 0) group.OnEnded(link.other, why, now_us_);
    });
  });
}

void Simulation::Kill(uint32_t rank) {
  Daemon& daemon = *daemons_[rank];
  for (auto& [key, record] : records_) {
    if (std::get<0>(key) != rank || std::get<1>(key) != daemon.incarnation || record.over) continue;
    record.leader_died = true;
    ++counts_.lost;
  }
  daemon.group.reset();
  daemon.stopped = false;
  daemon.held.clear();
  std::vector<LinkId> ends;
  for (const auto& [id, link] : links_) {
    if (link.from == rank) ends.push_back(id);
  }
  for (const LinkId id : ends) End(id, Unavailable("Connection reset by peer"));
}

void Simulation::Restart(uint32_t rank) { Begin(rank); }
void Simulation::Stop(uint32_t rank) { daemons_[rank]->stopped = true; }

void Simulation::Continue(uint32_t rank) {
  daemons_[rank]->stopped = false;
  for (const std::function<void()>& f : std::exchange(daemons_[rank]->held, {})) f();
}

void Simulation::Cut(uint32_t from, uint32_t to, bool cut) {
  if (cut) {
    cuts_.emplace(from, to);
  } else {
    cuts_.erase({from, to});
  }
}

bool Simulation::Complete() const {
  size_t living = 0;
  for (const auto& daemon : daemons_) living += daemon->group != nullptr ? 1 : 0;
  for (const auto& daemon : daemons_) {
    if (daemon->group == nullptr) continue;
    const Membership& membership = daemon->group->membership();
    if (!membership.joined() || membership.others() != living - 1 || membership.linked() != living - 1)
      return false;
  }
  for (const auto& daemon : daemons_) {
    for (const auto& other : daemons_) {
      if (daemon->group == nullptr || other->group == nullptr || daemon == other) continue;
      const v1::Member* const member = daemon->group->membership().MemberOf(other->rank);
      if (member == nullptr || member->incarnation() != other->incarnation) return false;
    }
  }
  return true;
}

std::string Simulation::DescribeMembers() const {
  std::string text;
  for (const auto& daemon : daemons_) {
    absl::StrAppend(&text, daemon->rank,
                    daemon->group == nullptr ? " is dead\n"
                    : daemon->stopped        ? " stopped:"
                                             : ":");
    if (daemon->group == nullptr) continue;
    const std::vector<Membership::View> rows = daemon->group->membership().List(now_us_);
    absl::StrAppend(&text, " ", rows.size(), " members, joined ",
                    daemon->group->membership().self().joined());
    for (const Membership::View& row : rows) {
      if (row.state == "linked" || row.state == "here") continue;
      absl::StrAppend(&text, "; ", row.member.rank(), " (joined ", row.member.joined(), ") ", row.state);
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

Simulation::Record* Simulation::Find(const v1::LaunchId& launch, uint32_t at) {
  const Membership& membership = daemons_[at]->group->membership();
  uint64_t incarnation = daemons_[at]->incarnation;
  if (launch.leader() != at) {
    const v1::Member* const leader = membership.MemberOf(launch.leader());
    incarnation = leader == nullptr ? 0 : leader->incarnation();
  }
  const auto found = records_.find({launch.leader(), incarnation, launch.number()});
  return found == records_.end() ? nullptr : &found->second;
}

bool Simulation::Launch(uint32_t leader, const std::map<uint32_t, std::set<uint32_t>>& parts) {
  if (!alive(leader) || stopped(leader)) return false;
  LaunchSpec spec;
  spec.prepare.set_digest(std::string(32, 'd'));
  spec.session = leader + 1;
  for (const auto& [rank, devices] : parts) {
    v1::LaunchPart& part = *spec.prepare.add_parts();
    part.set_rank(rank);
    for (const uint32_t device : devices) part.add_devices(device);
  }
  // The number is known only afterwards, but a launch on this daemon alone is prepared at once.
  const uint64_t number = daemons_[leader]->group->leader().last_number() + 1;
  Record& record = records_[{leader, daemons_[leader]->incarnation, number}];
  record.begun_us = now_us_;
  const absl::StatusOr<uint64_t> begun = group(leader).Launch(std::move(spec), now_us_);
  if (!begun.ok()) {
    records_.erase({leader, daemons_[leader]->incarnation, number});
    return false;
  }
  ++counts_.begun;
  CheckDevices(leader);
  return true;
}

bool Simulation::Offer(uint32_t rank, const v1::LaunchOffer& offer) {
  const bool stays = !offer.coming() && !offer.has_error();
  if (stays) daemons_[rank]->offered.emplace(offer.group(), offer.sequence());
  if (offer.has_error()) daemons_[rank]->offered.erase({offer.group(), offer.sequence()});
  const bool taken = group(rank).Offer(offer, now_us_).ok();
  if (stays && !taken) daemons_[rank]->offered.erase({offer.group(), offer.sequence()});
  return taken;
}

void Simulation::OfferAll(uint64_t group_id, uint64_t sequence,
                          const std::map<uint32_t, std::set<uint32_t>>& parts, int odd) {
  int at = 0;
  for (const auto& [rank, devices] : parts) {
    v1::LaunchOffer offer;
    offer.set_group(group_id);
    offer.set_sequence(sequence);
    offer.set_digest(std::string(32, at++ == odd ? 'o' : 'd'));
    for (const auto& [other, of_other] : parts) {
      v1::LaunchPart& part = *offer.add_parts();
      part.set_rank(other);
      for (const uint32_t device : of_other) part.add_devices(device);
    }
    if (!alive(rank) || stopped(rank)) continue;
    Offer(rank, offer);
  }
}

int64_t Simulation::open() const {
  int64_t count = 0;
  for (const auto& [key, record] : records_) count += record.over || record.leader_died ? 0 : 1;
  for (const auto& daemon : daemons_) {
    if (daemon->group == nullptr) continue;
    // The end of a part may be on its way to the leader.
    count += static_cast<int64_t>(daemon->group->participant().launches().size() + daemon->offered.size() +
                                  daemon->group->leader().size());
  }
  return count;
}

// No launch waits for a later one that has not started, unless that one has been told to yield: then launches
// that wait for one another in a circle are impossible, for each circle has such an edge.
void Simulation::CheckDevices(uint32_t rank) {
  if (!alive(rank)) return;
  std::map<uint32_t, const std::pair<const LaunchOrder, Participant::Launch>*> holders;
  const Participant::Launches& launches = group(rank).participant().launches();
  for (const auto& launch : launches) {
    if (launch.second.phase == Participant::Phase::kWaiting) continue;
    for (const uint32_t device : launch.second.devices) {
      if (!holders.emplace(device, &launch).second) Violation("two launches hold one device");
    }
  }
  for (const auto& [order, launch] : launches) {
    // One that later ones pass for a moment takes its place again.
    if (launch.phase != Participant::Phase::kWaiting || launch.aside) continue;
    for (const uint32_t device : launch.devices) {
      const auto holder = holders.find(device);
      if (holder == holders.end() || holder->second->first < order) continue;
      const Participant::Launch& later = holder->second->second;
      if (later.phase == Participant::Phase::kTaking ||
          (later.phase == Participant::Phase::kReady && !later.wounded))
        Violation(absl::StrCat("launch ", order.number, " waits for a later one that may keep its devices"));
    }
  }
}

void Simulation::CheckQuiet() {
  for (const auto& [key, record] : records_) {
    if (!record.over && !record.leader_died)
      Violation(absl::StrCat("launch ", std::get<2>(key), " never ended"));
    if (record.leader_died) continue;
    for (const auto& [rank, joined] : record.joined) {
      // If one of the two left the cluster meanwhile, the leader's sessions on this daemon are gone.
      const auto leader = std::get<0>(key);
      if (!alive(rank) || daemons_[rank]->Joined(leader) != joined) continue;
      if (!alive(leader) || daemons_[leader]->incarnation != std::get<1>(key)) continue;
      const bool consumed = record.consumed.contains(rank);
      if (consumed != record.started) {
        Violation(absl::StrCat("launch ", std::get<2>(key), " of ", leader,
                               record.started ? " started" : " did not start", ", but its arguments on ",
                               rank, consumed ? " are gone" : " are still there"));
      }
    }
  }
  for (uint32_t rank = 0; rank < daemons_.size(); ++rank) {
    if (!alive(rank)) continue;
    if (!group(rank).participant().launches().empty())
      Violation(absl::StrCat("daemon ", rank, " still holds a launch"));
    if (!daemons_[rank]->prepared.empty()) Violation(absl::StrCat("daemon ", rank, " still holds memory"));
    if (group(rank).offers().size() == 0 && !daemons_[rank]->charged.empty())
      Violation(absl::StrCat("daemon ", rank, " charges offers that it does not have"));
    if (!daemons_[rank]->offered.empty())
      Violation(absl::StrCat("daemon ", rank, " still waits for an offer"));
  }
}

}  // namespace hlod::fabric
