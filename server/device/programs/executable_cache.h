// Compiled programs, by the content of their module: equal bytes are compiled once for all sessions.
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
#include "server/device/execution/fair_queue.h"
#include "server/device/memory/side_memory.h"
#include "server/device/programs/compile_cache.h"
#include "server/engine/plan/plan.h"

namespace hlod::device {

// A compiled program. Immutable but for its counters and for what abstract executes derive from it.
class Executable {
 public:
  Executable(const Digest& digest, std::unique_ptr<const hlo::Module> module,
             std::unique_ptr<engine::Plan> plan, int64_t program_bytes);
  // One whose plan was made from an optimised module of the persistent cache: the program's own module is
  // parsed, from its bytes, when it is needed.
  Executable(const Digest& digest, std::string name, std::string bytes,
             std::shared_ptr<const hlo::Module> optimised, std::unique_ptr<engine::Plan> plan,
             int64_t program_bytes);

  const Digest& digest() const { return digest_; }
  const std::string& name() const { return name_; }  // The module's, or the beginning of it.
  const engine::Plan& plan() const { return *plan_; }
  int64_t program_bytes() const { return program_bytes_; }
  // Of the daemon's memory, about: what its module and its plan hold while it is kept.
  int64_t held_bytes() const { return held_bytes_; }
  // "parameter 2 \"w\"", or the leaf of one: "parameter 1 \"state\", leaf 3".
  std::string DescribeArgument(size_t leaf) const;

  // Which results still have a value when the arguments marked in `absent` have none.
  absl::StatusOr<std::vector<bool>> ComputableResults(const std::vector<bool>& absent);
  // The plan that computes only the results in `keep`; compiled on first use, and again when kPartialMax
  // others were used since. REQUIRES: some are kept.
  static constexpr size_t kPartialMax = 16;
  absl::StatusOr<std::shared_ptr<const engine::Plan>> PartialPlan(const std::vector<bool>& keep,
                                                                  const engine::CompileOptions& options);

  // Runs that are expected to be shorter may take place on a thread that reads a stream.
  static constexpr double kShortRunUs = 20;
  // Of a run that nothing is known about: long enough to be left to the device's threads.
  static constexpr double kUnknownRunUs = 1e9;
  // How long a run is expected to take, in microseconds: what the last runs took, and at least what the plan
  // estimates. Before the first run, and with reference steps, it is never called short.
  double ExpectedRunUs() const;
  void CountRun(int64_t us);

  std::atomic<int64_t> executes{0}, execute_us{0};
  std::atomic<int64_t> holders{0};  // Handles of sessions that name it.

 private:
  // The program's own module.
  absl::StatusOr<const hlo::Module*> Module() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Digest digest_;
  const std::shared_ptr<const hlo::Module> signature_;  // A module with the program's parameters.
  const std::unique_ptr<const engine::Plan> plan_;
  const int64_t program_bytes_, held_bytes_;
  const std::string name_;
  std::atomic<int64_t> recent_us_{-1};  // Of the last runs, the latest counting most; -1 before the first.
  Mutex mu_;
  std::shared_ptr<const hlo::Module> module_ ABSL_GUARDED_BY(mu_);  // Null until it is parsed ...
  std::string bytes_ ABSL_GUARDED_BY(mu_);                          // ... from this.
  std::optional<hlo::Dependences> dependences_ ABSL_GUARDED_BY(mu_);
  struct Partial {
    std::vector<bool> keep;
    std::shared_ptr<const engine::Plan> plan;
  };
  std::list<Partial> partial_ ABSL_GUARDED_BY(mu_);  // Most recently used first.
};

// Thread-safe.
class ExecutableCache {
 public:
  struct Options {
    engine::CompileOptions compile;
    int64_t instructions_max = Limits{}.instructions_max;
    // Memory of a parsed module; an ordinary one takes a few times the bytes that it has on the wire.
    int64_t parse_bytes_max = 8 * Limits{}.program_bytes_max;
    int64_t unheld_max = 256;                       // Programs kept that no session holds ...
    int64_t unheld_bytes_max = int64_t{512} << 20;  // ... and what they hold of the daemon's memory together.
    // Module bytes of all sessions that wait to be compiled or are being compiled. One program of a session
    // is always taken.
    int64_t queued_bytes_max = Limits{}.staging_bytes_max;
    std::shared_ptr<CompileCache> persistent;  // Null: programs are kept in memory alone.
  };
  explicit ExecutableCache(Options options);

  struct Compiled {
    std::shared_ptr<Executable> executable;
    bool cached = false;      // It was in memory, or is for another request's sake.
    bool persistent = false;  // Its optimised module came from the persistent cache: nothing was compiled.
  };
  // Runs at most once: at once when the program is known and small enough to be hashed here, or refused; else
  // on a compile thread, when it is the session's turn; never when that is discarded or cancelled first. The
  // error says why the module is not one that can run (kind invalid_program, unimplemented, limit or
  // no_memory).
  using Done = std::function<void(absl::StatusOr<Compiled>)>;
  struct Request;
  // Returns what Cancel takes; null when `done` was called at once. What compiling takes is charged to
  // `share`, when there is one.
  std::shared_ptr<Request> Compile(uint64_t session, std::string program, Done done,
                                   std::shared_ptr<MemoryShare> share = nullptr);
  // A program that no other request waits for is not compiled, or stops being compiled. The answer may be
  // under way.
  void Cancel(const std::shared_ptr<Request>& request);
  // Runs a job of a session on a compile thread, in its turn: other work on modules that may take long.
  void Run(uint64_t session, std::function<void()> job);
  // A program compiled before, or null.
  std::shared_ptr<Executable> Find(const Digest& digest);

  // What is in the cache, most recently asked for first.
  std::vector<std::shared_ptr<Executable>> List() const;
  const Options& options() const { return options_; }

  // FairSchedule::SetOwner.
  void SetOwner(uint64_t session, uint64_t owner) { queue_.SetOwner(session, owner); }
  // Drops what an ended session has waiting. What another session waits for, too, is compiled in its turn.
  void Discard(uint64_t session) { queue_.Discard(session); }
  // Drops what waits, and waits for what is being compiled.
  void Stop() { queue_.Stop(); }
  // Compiles that wait or run.
  int64_t queued() const { return queue_.length(); }
  // FairSchedule::ListRunning.
  std::vector<FairSchedule::RunningJob> ListRunning() const { return queue_.ListRunning(); }

 private:
  // Up to so many bytes are hashed by the caller (some 35 us).
  static constexpr size_t kHashInlineBytes = 64 << 10;
  struct Slot {
    std::shared_ptr<Executable> executable;  // Null while it is being compiled.
    std::vector<std::shared_ptr<Request>> waiting;
    std::shared_ptr<std::atomic<bool>> stop;  // Of the compilation under way: nobody waits for it.
    std::list<Digest>::iterator recent;       // When compiled.
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
  void Build(const Digest& digest, const std::string& program, const std::shared_ptr<MemoryShare>& share);
  struct Built {
    std::shared_ptr<Executable> executable;
    // What the persistent cache is to keep; null when it had it, or there is none.
    std::shared_ptr<const hlo::Module> optimised;
    CompileCache::Key key;
    bool persistent = false;
  };
  absl::StatusOr<Built> BuildExecutable(const Digest& digest, const std::string& program,
                                        const std::atomic<bool>& stop,
                                        const std::shared_ptr<MemoryShare>& share) const;
  // From the persistent cache; null when it does not have the program.
  std::shared_ptr<Executable> Load(const Digest& digest, const hlo::codec::WithoutMetadata& program,
                                   int64_t program_bytes, const CompileCache::Key& key,
                                   const std::atomic<bool>& stop) const;
  void Evict(std::vector<std::shared_ptr<Executable>>& gone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  mutable Mutex mu_;
  absl::flat_hash_map<Digest, Slot, DigestHash> slots_ ABSL_GUARDED_BY(mu_);
  std::list<Digest> recent_ ABSL_GUARDED_BY(mu_);  // Least recently used first.
  int64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, int64_t> queued_of_ ABSL_GUARDED_BY(mu_);  // Programs by session.
  FairQueue queue_;  // Last: its threads end before what they use.
};

}  // namespace hlod::device
