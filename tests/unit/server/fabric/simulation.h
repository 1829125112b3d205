// A world of N daemons in one thread with its own time: their group machines, a bus that delays, loses and
// reorders messages, deaths, stops and partitions. A seed determines all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/fabric/group.h"

namespace hlod::fabric {

struct SimulationOptions {
  uint32_t daemons = 3, devices = 2;
  uint64_t seed = 1;
  double loss = 0;                        // The share of numbered messages that never arrive.
  int64_t delay_us = 200, jitter_us = 0;  // One way; jitter reorders messages.
  int64_t tick_us = 50'000;
  int64_t take_us = 0;                // The most time that preparing a part takes.
  int64_t run_us = 1'000;             // The mean time of a launch's part.
  double refusals = 0, failures = 0;  // The shares of prepares and of parts that fail.
  int64_t silence_us = 2'000'000;
  int64_t offer_bytes_max = INT64_MAX;  // The memory of a user's offers that wait at a leader.
  LaunchLimits limits{.prepare_wait_us = 5'000'000, .unoffered_take_devices = true};
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  ~Simulation();

  int64_t now() const { return now_us_; }
  std::mt19937_64& random() { return random_; }
  // Runs `f` at a time.
  void At(int64_t time_us, std::function<void()> f);
  // Runs until `until_us`, or until `done` returns true after an event. Returns what it returned last.
  bool Run(
      int64_t until_us, const std::function<bool()>& done = [] { return false; });

  // Daemons by rank; daemon 0 is the coordinator.
  Group& group(uint32_t rank);
  bool alive(uint32_t rank) const;
  bool stopped(uint32_t rank) const;
  void Kill(uint32_t rank);
  void Restart(uint32_t rank);
  // SIGSTOP and SIGCONT.
  void Stop(uint32_t rank);
  void Continue(uint32_t rank);
  // A daemon's own work has a device until a time: launches that want it take no less to prepare.
  void Occupy(uint32_t rank, uint32_t device, int64_t until_us) { occupied_[{rank, device}] = until_us; }
  // The parts of the launches that a daemon leads run for this time from now on, instead of `run_us` in the
  // mean.
  void SetRunTime(uint32_t leader, int64_t us) { run_times_[leader] = us; }
  // Messages from `from` to `to` are lost from now on, or arrive again; links do not end.
  void Cut(uint32_t from, uint32_t to, bool cut);
  // True when each daemon that lives knows the same members, and has links with all of them.
  bool Complete() const;
  // Says for each daemon which members it does not reach.
  std::string DescribeMembers() const;

  // Begins a launch of `parts` (ranks with devices), led by `leader`. Returns false if it was refused at
  // once.
  bool Launch(uint32_t leader, const std::map<uint32_t, std::set<uint32_t>>& parts);
  // Offers a launch of a group of processes to the daemons of `parts`; `odd` runs another program.
  void OfferAll(uint64_t group, uint64_t sequence, const std::map<uint32_t, std::set<uint32_t>>& parts,
                int odd);

  // Makes one daemon's offer. Returns false if it was refused at once.
  bool Offer(uint32_t rank, const v1::LaunchOffer& offer);

  // The ends of launches.
  struct Counts {
    int64_t begun = 0, succeeded = 0, refused = 0, failed = 0, lost = 0;  // Lost: their leader died.
    int64_t offers_refused = 0, mismatches = 0;
    int64_t messages = 0;                     // Messages of launches that left a daemon.
    int64_t latency_us = 0;                   // The sum, over those that succeeded.
    std::map<std::string, int64_t> refusals;  // By the first words of the reason.
  };
  const Counts& counts() const { return counts_; }
  const std::vector<std::string>& reasons() const { return reasons_; }
  // The launches that have not ended.
  int64_t open() const;
  // Broken invariants, in words; empty is right.
  const std::vector<std::string>& violations() const { return violations_; }
  // Checks what must hold when nothing is under way.
  void CheckQuiet();

 private:
  struct Daemon;
  // A launch over its life, in all daemons.
  struct Record {
    std::map<uint32_t, int> consumed;  // The starts on each daemon, which take its arguments.
    // The memberships of the daemons that were asked, and of the leader, at that time.
    std::map<uint32_t, std::string> joined;
    bool over = false, started = false, leader_died = false;
    int64_t begun_us = 0;
  };
  using Key = std::tuple<uint32_t, uint64_t, uint64_t>;  // Rank and incarnation of the leader, number.
  struct Link {
    uint32_t from = 0, to = 0;  // This end's daemon and the other's.
    LinkId other = 0;
    bool open = true;
    int64_t not_before_us = 0;  // A greeting is not overtaken.
  };
  struct Event {
    int64_t time_us;
    uint64_t order;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return std::tie(time_us, order) > std::tie(other.time_us, other.order);
    }
  };

  void Violation(const std::string& text);
  void Begin(uint32_t rank);
  void Tick(uint32_t rank, uint64_t incarnation);
  // Runs `f` on a daemon when it runs, if it is still the same one.
  void On(uint32_t rank, uint64_t incarnation, const std::function<void(Group&)>& f);
  void Connect(uint32_t from, const std::string& address, uint32_t rank);
  void Send(LinkId link, const v1::PeerMessage& message);
  void End(LinkId link, const absl::Status& why);
  void CheckDevices(uint32_t rank);
  int64_t Delay();
  double Chance() { return std::uniform_real_distribution<>(0, 1)(random_); }
  Record* Find(const v1::LaunchId& launch, uint32_t at);

  const SimulationOptions options_;
  std::mt19937_64 random_;
  int64_t now_us_ = 1;
  uint64_t events_ = 0, incarnations_ = 0;
  LinkId links_made_ = 0;
  std::priority_queue<Event> queue_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::map<LinkId, Link> links_;
  std::set<std::pair<uint32_t, uint32_t>> cuts_;
  std::map<std::pair<uint32_t, uint32_t>, int64_t> occupied_;
  std::map<uint32_t, int64_t> run_times_;  // By leader.
  std::map<Key, Record> records_;
  Counts counts_;
  std::vector<std::string> reasons_, violations_;
};

}  // namespace hlod::fabric
