// The parts of launches on this daemon: passes the orders of the group machine to the executes, and their
// answers back.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/system/mutex.h"
#include "server/device/execution/launches.h"
#include "server/fabric/group.h"
#include "server/grpc/launches/launch_carrier.h"

namespace hlod::grpc_server {

// Calls a function with the group machine and the time, under the machine's lock.
class MachineUser {
 public:
  virtual ~MachineUser() = default;
  virtual void Use(absl::FunctionRef<void(fabric::Group&, int64_t now_us)> f) = 0;
};

// Thread-safe. The functions of Work are called with the machine's lock; what they want of the executes is
// done afterwards, in their order, by RunJobs. The others are called without it.
class LaunchParts : public device::Launches, public fabric::Work {
 public:
  // `credentials` are those of calls to other daemons; `early` is charged for what they send too early.
  LaunchParts(MachineUser& machine, PeerCredentials credentials, std::shared_ptr<device::MemoryShare> early);
  ~LaunchParts() override;

  Carriers& carriers() { return carriers_; }

  // Does what the machine wants of the executes. To be called after every use of the machine, by a thread
  // that holds no lock: it has just learnt what is to be done, and handing that to another thread would take
  // longer. A thread that comes while another one is here leaves its work to that one. After kJobsMax jobs or
  // kJobsTime the rest is left to a thread of this object, for callers have links to serve; so is a job that
  // failed, for example without memory: it is tried again for a while.
  static constexpr int kJobsMax = 32, kTriesMax = 1000;
  static constexpr std::chrono::microseconds kJobsTime{200};
  void RunJobs() ABSL_LOCKS_EXCLUDED(mu_);

  // Refuses the parts that have not started, and ends the others. Afterwards the machine is not used.
  void Stop();
  // Returns what the daemons that wait for parts of this one should know now: which parts wait for their
  // arguments. Those that find no room among the news of one call are in a later one's.
  std::vector<v1::LaunchOffer> TakeNews(int64_t now_us);

  absl::StatusOr<uint32_t> FindRank(absl::Span<const uint32_t> ranks) override;
  void Add(const std::shared_ptr<device::LaunchPart>& part) override;
  void Offer(const std::shared_ptr<device::LaunchPart>& part, const Digest& program) override;
  void TakeBack(const std::shared_ptr<device::LaunchPart>& part, const absl::Status& why) override;
  void Leave(uint64_t group) override;

  void Prepare(const v1::PrepareLaunch& launch, uint64_t attempt) override;
  void Release(const v1::LaunchId& launch, const absl::Status& why) override;
  bool IsWanted(const v1::LaunchId& launch) override;
  void Start(const v1::LaunchId& launch) override;
  void Cancel(const v1::LaunchId& launch, const absl::Status& why) override;
  void OnOver(uint64_t, bool, const absl::Status&) override {}
  void OnOfferRefused(uint64_t group, uint64_t sequence, const v1::LaunchId& launch,
                      const absl::Status& why) override;

 private:
  using Key = std::pair<uint64_t, uint64_t>;  // Group and sequence.
  struct Entry {
    std::shared_ptr<device::LaunchPart> part;
    enum class Phase { kComing, kOffered, kPreparing, kStarted } phase = Phase::kComing;
    std::string digest;                                // The program's, once it is offered.
    v1::LaunchId launch;                               // Once it is being prepared.
    std::shared_ptr<LaunchCarrier> carrier = nullptr;  // Set with `launch`.
  };
  // Returns true if `launch` is what the entry's part has offered, and no other launch is being prepared.
  static bool IsOffered(const Entry& entry, const v1::PrepareLaunch& launch);
  bool Stopping() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the carrier of a launch that is to be prepared.
  void OpenCarrier(const device::LaunchPart& part, const v1::LaunchId& launch) ABSL_LOCKS_EXCLUDED(mu_);
  static Key KeyOf(const device::LaunchPart& part);
  static v1::LaunchOffer OfferOf(const device::LaunchPart& part);
  Entry* Find(const v1::LaunchId& launch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has no effect after Stop.
  void UseMachine(absl::FunctionRef<void(fabric::Group&, int64_t now_us)> f) ABSL_LOCKS_EXCLUDED(mu_);
  // Does the same as UseMachine, and then what the machine wants.
  void UseMachineAndRun(absl::FunctionRef<void(fabric::Group&, int64_t now_us)> f) ABSL_LOCKS_EXCLUDED(mu_);
  void Post(std::function<void()> job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Runs the next job. Returns false if there is none to be run here, also after one that failed: that is
  // `failed_` then.
  bool RunJob() ABSL_LOCKS_EXCLUDED(mu_);
  // The thread for what RunJobs leaves.
  void RunRest();
  // Tries the failed job again until it succeeds, or has been tried often enough.
  void TryAgain() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex machine_mu_;  // Taken before the machine's lock.
  MachineUser* machine_ ABSL_GUARDED_BY(machine_mu_);
  Mutex mu_;  // Taken after the machine's lock.
  CondVar changed_ ABSL_GUARDED_BY(mu_);
  std::map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
  // The parts that have come since the last TakeNews, and those before with the time since which they wait;
  // some are offered or over by now. So a tick does not look at all entries.
  std::vector<Key> fresh_ ABSL_GUARDED_BY(mu_);
  std::deque<std::pair<int64_t, Key>> coming_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<uint32_t, uint64_t>, Key> keys_ ABSL_GUARDED_BY(mu_);  // By leader and number.
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mu_);
  bool running_ ABSL_GUARDED_BY(mu_) = false;  // A thread runs a job, or one has failed.
  bool left_ ABSL_GUARDED_BY(mu_) = false;     // RunJobs has left something to RunRest.
  std::function<void()> failed_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Carriers carriers_;
  std::thread thread_;
};

}  // namespace hlod::grpc_server
