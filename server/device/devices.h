// The devices of a daemon and what they share: backing memory, compiled programs, the queue of copies, the
// ledger, the time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/limits.h"
#include "server/device/clock.h"
#include "server/device/execution/fair_queue.h"
#include "server/device/ledger/ledger.h"
#include "server/device/memory/backing_pool.h"
#include "server/device/memory/device_memory.h"
#include "server/device/memory/side_memory.h"
#include "server/device/programs/executable_cache.h"
#include "server/engine/contraction/cpu_features.h"
#include "server/engine/run/strays.h"

namespace hlod::device {

// One device.
struct Device {
  Device(uint32_t ordinal, int64_t capacity_bytes, BackingPool& pool);
  const std::string kind = "cpu";
  const std::vector<std::string> cpu_features = engine::CpuFeatures();  // What its programs compute with.
  DeviceMemory memory;
  engine::Strays strays;  // They use its memory.
  FairQueue queue;        // Of executes: one at a time, and others beside one that runs long.
};

class Devices {
 public:
  struct Options {
    uint32_t count = 1;
    int64_t device_bytes = int64_t{16} << 30;     // Stated capacity of each; may exceed what the host has.
    int64_t host_bytes = int64_t{8} << 30;        // Backing of all of them together.
    int64_t side_bytes = int64_t{4} << 30;        // What all sessions together take beside that.
    int threads = 0;                              // Of the engine's team; 0: as engine::TeamSize says.
    std::shared_ptr<CompileCache> compile_cache;  // Null: programs are kept in memory alone.
    std::shared_ptr<const engine::NativeKernels> kernels;  // Null: none.
    Limits limits;
  };
  // `clock` outlives it.
  static absl::StatusOr<std::unique_ptr<Devices>> Create(const Options& options, const Clock& clock);
  // Drops the work that has not started, and waits for what runs.
  ~Devices();

  uint32_t count() const { return static_cast<uint32_t>(devices_.size()); }
  Device& device(uint32_t ordinal) { return *devices_[ordinal]; }
  BackingPool& pool() { return *pool_; }
  SideMemory& side_memory() { return side_memory_; }
  ExecutableCache& executables() { return executables_; }
  // Copies that are too long for a thread that reads a stream. They run one at a time.
  FairQueue& transfers() { return transfers_; }
  Ledger& ledger() { return ledger_; }
  const Clock& clock() const { return clock_; }
  // Since the devices were made.
  int64_t uptime_us() const { return absl::ToInt64Microseconds(clock_.Now() - started_); }
  const Limits& limits() const { return limits_; }

  // A session begins. What its owner's sessions have used, of all that wait, stays with the owner.
  void Add(uint64_t session, uint64_t owner);
  // Drops the work of an ended session that has not started.
  void Discard(uint64_t session);
  // Executes, copies and compiles that wait or run.
  int64_t queued() const;
  // What runs now, in words: "an execute on device 0 (session 3, for 12.5s), a compile (session 4, for 3s)".
  // Empty when nothing does.
  std::string DescribeRunning() const;

 private:
  Devices(const Options& options, std::unique_ptr<BackingPool> pool, const Clock& clock);
  // Destroyed from the last to the first: threads end before what they use.
  const Limits limits_;
  const Clock& clock_;
  const absl::Time started_ = clock_.Now();
  Ledger ledger_;
  std::unique_ptr<BackingPool> pool_;
  SideMemory side_memory_;
  std::vector<std::unique_ptr<Device>> devices_;
  FairQueue transfers_;
  ExecutableCache executables_;
};

}  // namespace hlod::device
