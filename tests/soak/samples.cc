// Reads /proc and the daemon's statistics.
#include "tests/soak/samples.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/soak/kinds.h"

namespace hlod::soak {
namespace {

namespace fs = std::filesystem;

int64_t Entries(const fs::path& folder) {
  int64_t count = 0;
  std::error_code gone;
  for (fs::directory_iterator it(folder, gone), end; !gone && it != end; it.increment(gone)) ++count;
  return count;
}

}  // namespace

int64_t StatusBytes(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::atoll(line.c_str() + name.size() + 1) * 1024;
  }
  return 0;
}

int64_t FolderBytes(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code gone;
  for (fs::recursive_directory_iterator it(folder, gone), end; !gone && it != end; it.increment(gone)) {
    std::error_code removed;
    const auto size = it->is_regular_file(removed) ? it->file_size(removed) : 0;
    if (!removed) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

Quantities Held(const testing::Daemon& daemon, const Admin& admin) {
  const DaemonStats stats = Expect(admin.Stats());
  Quantities held = {{"sessions", stats.sessions},
                     {"rings", stats.rings},
                     {"host memory", stats.host_memory_bytes},
                     {"side memory", stats.side_memory_bytes}};
  for (const DeviceRow& device : Expect(admin.Devices())) {
    held["device memory"] += device.used_bytes;
    held["live handles"] += device.buffers + device.placeholders;
    held["queued executes"] += device.queued_executes;
  }
  const std::string process = "/proc/" + std::to_string(daemon.pid());
  held["descriptors"] = Entries(process + "/fd");
  held["threads"] = Entries(process + "/task");
  return held;
}

Quantities SampleDaemon(const testing::Daemon& daemon, const Admin& admin, const std::string& cache) {
  Quantities sample = Held(daemon, admin);
  sample["own memory"] = StatusBytes(daemon.pid(), "RssAnon");
  sample["shared memory"] = StatusBytes(daemon.pid(), "RssShmem");
  sample["cache on disk"] = FolderBytes(cache);
  sample["log"] = static_cast<int64_t>(daemon.log().size());
  return sample;
}

}  // namespace hlod::soak
