// Creates and connects the parts of Devices.
#include "server/device/devices.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "common/base/errors/status.h"
#include "server/device/programs/session_assembly.h"
#include "server/engine/run/team.h"

namespace hlod::device {
namespace {

// The shortest time that a run waits for a longer one. A short run that waits for more than this waits for
// one that takes much longer, or whose thread the kernel has set aside: it costs neither of them much.
constexpr int64_t kShortRunWaitUs = 100;

// One program holds the device, and waiting ones start beside one that runs long: all have reserved their
// memory, so they share only the cores.
FairQueue::Options DeviceQueueOptions(uint32_t ordinal, int nice, FailedSessions* failed, bool manual) {
  return {.name = "device-" + std::to_string(ordinal),
          .schedule = {.width = 1,
                       .beside_us_max = std::numeric_limits<double>::infinity(),
                       .beside_wait_us_min = kShortRunWaitUs,
                       .tiny_us = Executable::kShortRunUs},
          .inline_us_max = Executable::kShortRunUs,
          .nice = nice,
          .manual = manual,
          .failed = failed};
}

// Machine code only makes later runs faster: it is made beside everything else.
FairQueue::Options AssemblyQueueOptions(int nice) { return {.name = "assemble", .nice = nice + 5}; }

}  // namespace

Device::Device(uint32_t ordinal, int64_t capacity_bytes, BackingPool& pool, int nice, FailedSessions* failed,
               bool manual)
    : memory(ordinal, capacity_bytes, pool), queue(DeviceQueueOptions(ordinal, nice, failed, manual)) {}

absl::StatusOr<std::unique_ptr<Devices>> Devices::Create(const Options& options, const Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<BackingPool> pool, BackingPool::Create(options.host_bytes));
  Options used = options;
  const int threads = engine::TeamSize(options.threads);
  used.threads = engine::PrepareTeams(threads);
  if (used.threads < threads)
    spdlog::warn("Programs run on one thread each: the system refuses teams of {} threads.", threads);
  return std::unique_ptr<Devices>(new Devices(used, std::move(pool), clock));
}

Devices::Devices(const Options& options, std::unique_ptr<BackingPool> pool, const Clock& clock)
    : limits_(options.limits),
      network_(options.network),
      clock_(clock),
      failed_(options.limits.sessions_max),
      pool_(std::move(pool)),
      side_memory_(options.side_bytes),
      transfers_({.name = "transfers", .manual = options.manual, .failed = &failed_}),
      executables_(
          {.compile = {.threads = options.threads,
                       .kernels = options.kernels,
                       .assembler = options.assembler},
           .instructions_max = options.limits.instructions_max,
           // An ordinary program can be parsed even if program_bytes_max is small.
           .parse_bytes_max = std::max(int64_t{64} << 20, 8 * options.limits.program_bytes_max),
           .unheld_bytes_max = std::min(ExecutableCache::Options{}.unheld_bytes_max, options.side_bytes / 8),
           .queued_bytes_max = options.limits.staging_bytes_max,
           .persistent = options.compile_cache,
           .nice = options.nice,
           .manual = options.manual,
           .failed = &failed_}),
      code_memory_(options.assembler == nullptr ? 0 : options.assembler->options().code_bytes_max) {
  if (options.assembler != nullptr)
    assemblies_ = std::make_unique<FairQueue>(AssemblyQueueOptions(options.nice));
  for (uint32_t i = 0; i < options.count; ++i)
    devices_.push_back(
        std::make_unique<Device>(i, options.device_bytes, *pool_, options.nice, &failed_, options.manual));
}

// Stops all queues before any member is destroyed: a job may use the memory of any device.
Devices::~Devices() {
  if (assemblies_ != nullptr) assemblies_->Stop();
  executables_.Stop();
  transfers_.Stop();
  for (const std::unique_ptr<Device>& device : devices_) device->queue.Stop();
}

std::shared_ptr<engine::AssemblyUser> Devices::AssemblyOf(uint64_t session, const std::string& owner) {
  if (assemblies_ == nullptr) return nullptr;
  return std::make_shared<SessionAssembly>(*assemblies_, session, code_memory_.ShareForSession(owner));
}

void Devices::Add(uint64_t session, uint64_t owner) {
  if (assemblies_ != nullptr) assemblies_->SetOwner(session, owner);
  executables_.SetOwner(session, owner);
  transfers_.SetOwner(session, owner);
  for (const std::unique_ptr<Device>& device : devices_) device->queue.SetOwner(session, owner);
}

void Devices::Discard(uint64_t session) {
  failed_.Remove(session);
  if (assemblies_ != nullptr) assemblies_->Discard(session);
  executables_.Discard(session);
  transfers_.Discard(session);
  for (const std::unique_ptr<Device>& device : devices_) device->queue.Discard(session);
}

bool Devices::RunNext(size_t first) {
  const size_t queues = devices_.size() + 2;
  for (size_t i = 0; i < queues; ++i) {
    const size_t queue = (first + i) % queues;
    const bool ran = queue == 0   ? transfers_.RunNext()
                     : queue == 1 ? executables_.RunNext()
                                  : devices_[queue - 2]->queue.RunNext();
    if (ran) return true;
  }
  return false;
}

int64_t Devices::queued() const {
  int64_t queued = executables_.queued() + transfers_.length();
  for (const std::unique_ptr<Device>& device : devices_) queued += device->queue.length();
  return queued;
}

std::string Devices::DescribeRunning() const {
  std::string text;
  const auto add = [&text](std::string_view what, const std::vector<FairSchedule::RunningJob>& jobs) {
    for (const FairSchedule::RunningJob& job : jobs) {
      absl::StrAppendFormat(&text, "%s%s (session %d, for %s)", text.empty() ? "" : ", ", what, job.session,
                            absl::FormatDuration(absl::Milliseconds(job.run_us / 1000)));
    }
  };
  for (const std::unique_ptr<Device>& device : devices_) {
    add(absl::StrFormat("an execute on device %d", device->memory.ordinal()), device->queue.ListRunning());
    if (const int left = device->strays.count(); left > 0) {
      absl::StrAppendFormat(&text, "%slibrary calls of stopped executes (%d on device %d)",
                            text.empty() ? "" : ", ", left, device->memory.ordinal());
    }
  }
  add("a copy", transfers_.ListRunning());
  add("a compile", executables_.ListRunning());
  return text;
}

}  // namespace hlod::device
