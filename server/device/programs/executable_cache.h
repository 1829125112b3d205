// Compiled programs by the content of their module: equal bytes are compiled once for all sessions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/base/sha256.h"
#include "common/base/system/mutex.h"
#include "common/hlo/analysis/dependence.h"
#include "common/hlo/module.h"
#include "common/hlo/proto/without_metadata.h"
#include "common/network/collective_cost.h"
#include "server/device/execution/fair_queue.h"
#include "server/device/memory/compile_charge.h"
#include "server/device/memory/side_memory.h"
#include "server/device/programs/compile_cache.h"
#include "server/device/programs/recent_runs.h"
#include "server/engine/plan/plan.h"

namespace hlod::device {

// A compiled program. Immutable except for its counters and for the plans that abstract executes derive from
// it.
class Executable {
 public:
  Executable(const Digest& digest, std::unique_ptr<const hlo::Module> module,
             std::unique_ptr<engine::Plan> plan, int64_t program_bytes);
  // Makes a program whose plan was compiled from an optimised module of the persistent cache. The program's
  // own module is parsed from `bytes` when it is needed.
  Executable(const Digest& digest, std::string name, std::string bytes,
             std::shared_ptr<const hlo::Module> optimised, std::unique_ptr<engine::Plan> plan,
             int64_t program_bytes);

  const Digest& digest() const { return digest_; }
  const std::string& name() const { return name_; }  // The module's name, possibly truncated.
  const engine::Plan& plan() const { return *plan_; }
  int64_t program_bytes() const { return program_bytes_; }
  // The approximate bytes of the daemon's memory that its module and its plan occupy.
  int64_t held_bytes() const { return held_bytes_; }
  // Returns SHA-256 of the program without its name and what describes its source (StripMetadata), which is
  // equal for processes that compile it on different lines. Computed at the first call.
  Digest DigestWithoutSource();
  // Returns "parameter 2 \"w\"", or for a leaf of a tuple "parameter 1 \"state\", leaf 3".
  std::string DescribeArgument(size_t leaf) const;

  // Returns which results have a value when the arguments marked in `absent` have none.
  absl::StatusOr<std::vector<bool>> ComputableResults(const std::vector<bool>& absent);
  // Returns the plan that computes only the results in `keep`. It is compiled on first use, and again when
  // kPartialMax other plans were used since. What it takes is charged to `share`, unless that is null, as
  // long as the plan exists. REQUIRES: `keep` has a true element.
  static constexpr size_t kPartialMax = 16;
  absl::StatusOr<std::shared_ptr<const engine::Plan>> PartialPlan(
      const std::vector<bool>& keep, const engine::CompileOptions& options,
      const std::shared_ptr<MemoryShare>& share = nullptr);
  // Drops the plans that PartialPlan keeps. Called when a session frees the program, so that its user is not
  // charged for plans that only others may use.
  void DropPartialPlans();

  // A run that is expected to be shorter than this may take place on a thread that reads a stream.
  static constexpr double kShortRunUs = 20;
  // The expected time of a run about which nothing is known: long enough to be left to the device's threads.
  static constexpr double kUnknownRunUs = 1e9;
  // Returns the expected time of a run in microseconds: the time of recent runs, and at least the plan's
  // estimate. Before the first run, and for reference steps, it is never short.
  double ExpectedRunUs() const;
  void CountRun(int64_t us);
  // Returns the modelled cost of the collectives of one run on these devices, by participant; zero when the
  // module cannot be read. The costs on the last kPlacesMax lists of devices are remembered, because a module
  // of many participants takes long to walk, and clients may use other devices than one another.
  network::CollectiveCost NetworkCost(const network::Network& network, const std::vector<uint32_t>& devices);

  // network_us: the modelled time of the collectives of all executes, which is not part of execute_us.
  std::atomic<int64_t> executes{0}, execute_us{0}, network_us{0};
  std::atomic<int64_t> holders{0};  // The number of handles of sessions that name it.

 private:
  // Returns the program's own module.
  absl::StatusOr<const hlo::Module*> Module() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Digest digest_;
  const std::shared_ptr<const hlo::Module> signature_;  // A module with the program's parameters.
  const std::unique_ptr<const engine::Plan> plan_;
  const int64_t program_bytes_, held_bytes_;
  const std::string name_;
  RecentRuns runs_;
  Mutex mu_;
  std::shared_ptr<const hlo::Module> module_ ABSL_GUARDED_BY(mu_);  // Null until it is parsed.
  std::string bytes_ ABSL_GUARDED_BY(mu_);  // The bytes that `module_` is parsed from.
  std::optional<Digest> without_source_ ABSL_GUARDED_BY(mu_);
  std::optional<hlo::Dependences> dependences_ ABSL_GUARDED_BY(mu_);
  struct Partial {
    std::vector<bool> keep;
    std::shared_ptr<const engine::Plan> plan;
  };
  std::list<Partial> partial_ ABSL_GUARDED_BY(mu_);  // Most recently used first.
  static constexpr size_t kPlacesMax = 8;
  struct Placed {
    std::vector<uint32_t> devices;
    network::CollectiveCost cost;
  };
  std::vector<Placed> network_costs_ ABSL_GUARDED_BY(mu_);  // The latest last.
};

// Thread-safe.
class ExecutableCache {
 public:
  struct Options {
    engine::CompileOptions compile;
    int64_t instructions_max = Limits{}.instructions_max;
    // The memory limit of a parsed module. An ordinary module takes a few times its bytes on the wire.
    int64_t parse_bytes_max = 8 * Limits{}.program_bytes_max;
    int64_t unheld_max = 256;  // The number of programs that are kept although no session holds them.
    // The limit on the daemon's memory for these programs together.
    int64_t unheld_bytes_max = int64_t{512} << 20;
    // The limit on module bytes, over all sessions, that wait to be compiled or are being compiled. One
    // program per session is always accepted.
    int64_t queued_bytes_max = Limits{}.staging_bytes_max;
    std::shared_ptr<CompileCache> persistent;  // Null: programs are cached in memory only.
    // Added to the nice value of the threads that run programs; those that compile are nicer than these.
    int nice = 0;
    // As in FairQueue::Options.
    bool manual = false;
    FailedSessions* failed = nullptr;
  };
  explicit ExecutableCache(Options options);

  struct Compiled {
    std::shared_ptr<Executable> executable;
    bool cached = false;  // True when it was in memory, or is being compiled for another request.
    // True when its optimised module came from the persistent cache, so that nothing was compiled.
    bool persistent = false;
  };
  // Called at most once: before Compile returns, if the program is known and small enough to be hashed there,
  // or is refused; otherwise on a compile thread, when it is the session's turn; and never, if the request is
  // discarded or cancelled first. The error says why the module cannot run (kind invalid_program,
  // unimplemented, limit or no_memory).
  using Done = std::function<void(absl::StatusOr<Compiled>)>;
  struct Request;
  // Returns a request for Cancel, or null when `done` was called already. The memory that compiling takes is
  // charged to `share`, unless that is null, before it is taken; beyond the share, the program is refused.
  // Machine code that is made at once is charged to `assembly`; beyond its memory, the program is
  // interpreted.
  std::shared_ptr<Request> Compile(uint64_t session, std::string program, Done done,
                                   std::shared_ptr<MemoryShare> share = nullptr,
                                   std::shared_ptr<engine::AssemblyUser> assembly = nullptr);
  // Cancels a request. A program that no other request waits for is not compiled, or its compilation is
  // stopped. `done` may still be called if that was just about to happen.
  void Cancel(const std::shared_ptr<Request>& request);
  // Runs a job of a session on a compile thread, in the session's turn: other work on modules that may take
  // long.
  void Run(uint64_t session, std::function<void()> job);
  // Returns a program that was compiled before, or null.
  std::shared_ptr<Executable> Find(const Digest& digest);

  // Counts programs that a session has freed, and their bytes. From time to time it evicts, on a compile
  // thread, the programs beyond the bounds on those that no session holds: nobody is charged for them.
  void CountFreed(uint64_t session, int64_t programs, int64_t bytes);
  // Evicts them now. The end of a session calls it.
  void Trim();

  // Returns the programs in the cache, most recently requested first.
  std::vector<std::shared_ptr<Executable>> List() const;
  const Options& options() const { return options_; }

  // See FairSchedule::SetOwner.
  void SetOwner(uint64_t session, uint64_t owner) { queue_.SetOwner(session, owner); }
  // Drops the waiting compiles of an ended session. A program that another session also waits for is compiled
  // in that session's turn.
  void Discard(uint64_t session) { queue_.Discard(session); }
  // Drops waiting compiles and waits for running ones.
  void Stop() { queue_.Stop(); }
  // See FairQueue::RunNext.
  bool RunNext() { return queue_.RunNext(); }
  // The number of compiles that wait or run.
  int64_t queued() const { return queue_.length(); }
  // See FairSchedule::ListRunning.
  std::vector<FairSchedule::RunningJob> ListRunning() const { return queue_.ListRunning(); }

 private:
  // The size up to which the caller hashes a program itself (about 35 us).
  static constexpr size_t kHashInlineBytes = 64 << 10;
  struct Slot {
    std::shared_ptr<Executable> executable;  // Null while it is being compiled.
    std::vector<std::shared_ptr<Request>> waiting;
    std::shared_ptr<std::atomic<bool>> stop;  // Stops the running compilation when no request waits for it.
    std::list<Digest>::iterator recent;       // Valid after the compile.
  };
  struct DigestHash {
    size_t operator()(const Digest& digest) const;
  };
  // A program's bytes, counted as queued while it lives.
  class QueuedProgram;
  absl::Status Reserve(uint64_t session, int64_t bytes);
  void Release(uint64_t session, int64_t bytes);
  void CompileHashed(const Digest& digest, const std::string& program,
                     const std::shared_ptr<Request>& request);
  // Compiles for all requests that wait for the program. The memory is charged to the first of them; when
  // that one's share is used up, to the next one with another share. `payer` is the first.
  void Build(const Digest& digest, const std::string& program, std::shared_ptr<Request> payer);
  // Answers the requests that wait for a program which is not being compiled any more.
  void Refuse(const Digest& digest, const absl::Status& status);
  // Answers all requests, whatever one of them throws. The first one has compiled it, unless it was cached.
  static void Answer(const std::vector<std::shared_ptr<Request>>& requests,
                     const absl::StatusOr<Compiled>& compiled);
  // Removes and returns the waiting requests of a share.
  static std::vector<std::shared_ptr<Request>> TakeRequestsOf(const std::shared_ptr<MemoryShare>& share,
                                                              Slot& slot);
  struct Built {
    std::shared_ptr<Executable> executable;
    // The module to store in the persistent cache; null when it was loaded from there, or there is no such
    // cache.
    std::shared_ptr<const hlo::Module> optimised;
    CompileCache::Key key;
    bool persistent = false;
    CompileCharge charge;
  };
  absl::StatusOr<Built> BuildExecutable(const Digest& digest, const std::string& program,
                                        const std::atomic<bool>& stop, const Request& payer) const;
  // Loads the program from the persistent cache; null when it does not have it.
  std::shared_ptr<Executable> Load(const Digest& digest, const hlo::codec::WithoutMetadata& program,
                                   int64_t program_bytes, const CompileCache::Key& key,
                                   const engine::CompileOptions& compile, CompileCharge& charge) const;
  void Evict(std::vector<std::shared_ptr<Executable>>& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts programs that may be unheld now. Returns true when it is time to evict.
  bool IsEvictionDue(int64_t programs, int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable Mutex mu_;
  absl::flat_hash_map<Digest, Slot, DigestHash> slots_ ABSL_GUARDED_BY(mu_);
  std::list<Digest> recent_ ABSL_GUARDED_BY(mu_);  // Least recently used first.
  int64_t freed_ ABSL_GUARDED_BY(mu_) = 0, freed_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // Since the last Trim.
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  // The number of queued programs by session.
  absl::flat_hash_map<uint64_t, int64_t> queued_of_ ABSL_GUARDED_BY(mu_);
  FairQueue queue_;  // The last member: its threads end before the members that they use.
};

}  // namespace hlod::device
