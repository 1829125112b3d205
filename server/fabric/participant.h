// This daemon's parts of launches, its own and others': who holds the devices, and who is next.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "server/fabric/work.h"

namespace hlod::fabric {

// The order of launches, earliest first.
struct LaunchOrder {
  uint64_t ticket = 0;
  uint32_t leader = 0;
  uint64_t number = 0;
  auto operator<=>(const LaunchOrder&) const = default;
};

// Hands out devices in the order of tickets. A launch gets all its devices of this daemon at once. It waits
// only for launches that are earlier, that have started, or that can be told to yield; so the earliest launch
// of the cluster that has not started never waits for ever. Not thread-safe.
class Participant {
 public:
  // `devices` is the number of this daemon's devices.
  Participant(uint32_t devices, const LaunchLimits& limits, Work& work, Post post, NameOf name_of)
      : device_count_(devices),
        limits_(limits),
        work_(work),
        post_(std::move(post)),
        name_of_(std::move(name_of)) {}

  // Messages of the leader `rank` to this daemon `self`. An error: it broke the protocol.
  absl::Status OnPrepare(uint32_t rank, uint32_t self, const v1::PrepareLaunch& launch, int64_t now_us);
  absl::Status OnStep(uint32_t rank, const v1::LaunchStep& step, int64_t now_us);
  // An attempt to prepare has ended. Has no effect for an attempt that was released.
  void OnPrepared(const v1::LaunchId& launch, uint64_t attempt, const absl::Status& status, int64_t now_us);
  // The part of a started launch has ended here.
  void OnDone(const v1::LaunchId& launch, const absl::Status& status, int64_t now_us);
  // A leader is gone: what it has not started is forgotten, and the rest is cancelled.
  void OnGone(uint32_t rank, const absl::Status& why, int64_t now_us);
  void Tick(int64_t now_us);

  enum class Phase { kWaiting, kTaking, kReady, kStarted };
  struct Launch {
    v1::PrepareLaunch prepare;
    std::vector<uint32_t> devices;
    Phase phase = Phase::kWaiting;  // It holds its devices unless it waits.
    uint64_t attempt = 0;           // The number of the attempt to prepare it.
    bool wounded = false;           // The leader has been asked to give the devices back.
    bool orphaned = false;          // The leader is gone.
    bool aside = false;             // It waits, and later ones may pass it until `aside_us`.
    int64_t aside_us = 0;           // kUntilResumed: until the leader says that no other part is missing.
    uint32_t passes = 0;            // The number of times that it has let others pass until then.
    std::vector<uint32_t> elsewhere;  // The other daemons of the launch, ascending.
    LaunchOrder behind;             // The launch that it waits for.
    int64_t told_us = 0;            // The time at which the leader last learnt for whom it waits.
    int64_t idle_us = 0;            // The time at which what it waits for last changed.
    int64_t since_us = 0;           // The time of its last step.
  };
  static constexpr int64_t kUntilResumed = INT64_MAX;
  using Launches = std::map<LaunchOrder, Launch>;
  // The launches with a part on this daemon, earliest first.
  const Launches& launches() const { return launches_; }

 private:
  absl::Status CheckPrepare(uint32_t rank, const v1::PrepareLaunch& launch) const;
  void Grant(int64_t now_us);
  // Returns the launch that keeps this one from its devices, or null. Asks holders that are later to yield.
  const LaunchOrder* FindBlocker(const LaunchOrder& order, const Launch& launch,
                                 const std::map<uint32_t, LaunchOrder>& wanted, int64_t now_us);
  // Makes a launch wait again that has its devices, and has not started.
  void TakeBack(Launch& launch, int64_t now_us);
  void Free(const Launch& launch);
  void Refuse(Launches::iterator launch, const absl::Status& why);
  // Forgets a launch that has not started.
  void Forget(Launches::iterator launch, const absl::Status& why);
  void Erase(Launches::iterator launch);
  std::string DescribeBlocker(const LaunchOrder& order, int64_t now_us) const;
  // Tells the leader of a launch that still waits, and returns false if it has waited too long.
  bool TickWaiting(const LaunchOrder& order, Launch& launch, int64_t now_us);
  // Returns the time for which a launch may hold its devices while it waits for other daemons, and others
  // want them: longer each time, so that it starts however long the work elsewhere takes, but short if such a
  // launch has already let others pass here that needs the same daemons.
  int64_t HoldUs(const Launch& launch) const;
  // Tells the leader of one that waits for the daemon's own work how long it has. Others may want `wanted`:
  // if they have waited for long, they pass it for a moment, for they may want devices that are idle.
  void TickTaking(const LaunchOrder& order, Launch& launch, const std::set<uint32_t>& wanted, int64_t now_us);
  // Tells the leader of one that is ready and has not started that others want what it holds.
  void TickReady(const LaunchOrder& order, Launch& launch, const std::set<uint32_t>& wanted, int64_t now_us);

  const uint32_t device_count_;
  const LaunchLimits limits_;
  Work& work_;
  const Post post_;
  const NameOf name_of_;
  uint64_t attempts_ = 0;
  Launches launches_;
  std::map<std::pair<uint32_t, uint64_t>, LaunchOrder> orders_;  // By leader and number.
  std::map<uint32_t, size_t> counts_;                            // The launches by leader.
  std::map<uint32_t, LaunchOrder> holders_;                      // By device.
};

}  // namespace hlod::fabric
