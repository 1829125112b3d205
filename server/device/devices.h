// The devices of a daemon, and what they share: backing memory, compiled programs, the queue of copies, the
// ledger and the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "common/network/topology.h"
#include "server/device/clock.h"
#include "server/device/execution/fair_queue.h"
#include "server/device/failed_sessions.h"
#include "server/device/ledger/ledger.h"
#include "server/device/memory/backing_pool.h"
#include "server/device/memory/device_memory.h"
#include "server/device/memory/side_memory.h"
#include "server/device/programs/executable_cache.h"
#include "server/engine/assemble/assembly_job.h"
#include "server/engine/contraction/cpu_features.h"
#include "server/engine/run/strays.h"

namespace hlod::device {

class Launches;

struct Device {
  // `nice` is that of Devices::Options.
  Device(uint32_t ordinal, int64_t capacity_bytes, BackingPool& pool, int nice = 0,
         FailedSessions* failed = nullptr, bool manual = false);
  const std::string kind = "cpu";
  // The instruction sets that the devices' programs use.
  const std::vector<std::string> cpu_features = engine::CpuFeatures();
  DeviceMemory memory;
  engine::Strays strays;  // Abandoned kernel calls, which still use the device's memory.
  FairQueue queue;        // The queue of executes: one at a time, and others beside a long one.
};

class Devices {
 public:
  struct Options {
    uint32_t count = 1;
    // The capacity that each device reports; may exceed the host's memory.
    int64_t device_bytes = int64_t{16} << 30;
    int64_t host_bytes = int64_t{8} << 30;  // The backing memory of all devices together.
    int64_t side_bytes = int64_t{4} << 30;  // The limit of the daemon's other memory, over all sessions.
    int threads = 0;  // The threads of the engine's team; 0: the number that engine::TeamSize chooses.
    // Added to the nice value of threads that run or compile programs. Programs occupy all cores for long; a
    // thread that receives a message, or a client that waits for an answer, gets a core at once if it is less
    // nice, and otherwise may wait for a time slice (3 ms).
    int nice = 0;
    std::shared_ptr<CompileCache> compile_cache;           // Null: programs are cached in memory only.
    std::shared_ptr<const engine::NativeKernels> kernels;  // May be null.
    // The chips that the devices stand for, at least as many; null: no network is modelled.
    std::shared_ptr<const network::Network> network;
    std::shared_ptr<engine::Assembler> assembler;  // Null: fused steps are interpreted.
    // True for a simulation: no queue has a thread, and RunNext runs their jobs.
    bool manual = false;
    Limits limits;
  };
  // `clock` must outlive the devices.
  static absl::StatusOr<std::unique_ptr<Devices>> Create(const Options& options, const Clock& clock);
  // Drops the work that has not started and waits for running work.
  ~Devices();

  uint32_t count() const { return static_cast<uint32_t>(devices_.size()); }
  Device& device(uint32_t ordinal) { return *devices_[ordinal]; }
  BackingPool& pool() { return *pool_; }
  SideMemory& side_memory() { return side_memory_; }
  ExecutableCache& executables() { return executables_; }
  // The queue of copies that are too long for a thread that reads a stream. It runs one copy at a time.
  FairQueue& transfers() { return transfers_; }
  Ledger& ledger() { return ledger_; }
  FailedSessions& failed() { return failed_; }
  const Clock& clock() const { return clock_; }
  // Time since the devices were created.
  int64_t uptime_us() const { return absl::ToInt64Microseconds(clock_.Now() - started_); }
  const Limits& limits() const { return limits_; }
  // Returns the chips that the devices stand for; null without them.
  const network::Network* network() const { return network_.get(); }

  // The launches of the cluster; null without a cluster. Set before the first session.
  const std::shared_ptr<Launches>& launches() const { return launches_; }
  void SetLaunches(std::shared_ptr<Launches> launches) { launches_ = std::move(launches); }

  // Returns a session's turns at the assembler; null without an assembler.
  std::shared_ptr<engine::AssemblyUser> AssemblyOf(uint64_t session, const std::string& owner);

  // Registers a new session and its owner with all queues, where an ended session's debt stays with its owner
  // (FairSchedule).
  void Add(uint64_t session, uint64_t owner);
  // Drops an ended session's work that has not started.
  void Discard(uint64_t session);
  // Runs the next job of one queue, the first that has one from the queue with this number on. Returns false
  // when no job may start. REQUIRES: Options::manual.
  bool RunNext(size_t first);
  // The number of executes, copies and compiles that wait or run.
  int64_t queued() const;
  // Describes the running work: "an execute on device 0 (session 3, for 12.5s), a compile (session 4, for
  // 3s)". Empty when nothing runs.
  std::string DescribeRunning() const;

 private:
  Devices(const Options& options, std::unique_ptr<BackingPool> pool, const Clock& clock);
  // Members are destroyed from the last to the first, so threads end before the members that they use.
  const Limits limits_;
  const std::shared_ptr<const network::Network> network_;
  std::shared_ptr<Launches> launches_;
  const Clock& clock_;
  const absl::Time started_ = clock_.Now();
  Ledger ledger_;
  FailedSessions failed_;
  std::unique_ptr<BackingPool> pool_;
  SideMemory side_memory_;
  std::vector<std::unique_ptr<Device>> devices_;
  FairQueue transfers_;
  ExecutableCache executables_;
  SideMemory code_memory_;  // The memory for machine code.
  // The queue of plans that become machine code; null without an assembler.
  std::unique_ptr<FairQueue> assemblies_;
};

}  // namespace hlod::device
