// Reads what the kernel says about this machine and this user's limits.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/doctor/finding.h"
#include "client/cli/print/table.h"
#include "common/base/system/cpu.h"

namespace hlod::cli {
namespace {

// Returns the first line of a file of the kernel; empty when it cannot be read.
std::string LineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns a number of a file that has nothing else; nullopt for "max", and when it cannot be read.
std::optional<int64_t> NumberOf(const std::string& path) {
  std::istringstream line(LineOf(path));
  int64_t number = 0;
  return line >> number ? std::optional(number) : std::nullopt;
}

// Returns a field of /proc/meminfo in bytes.
int64_t MemoryField(const std::string& field) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field + ":")) continue;
    std::istringstream rest(line.substr(field.size() + 1));
    int64_t kibibytes = 0;
    rest >> kibibytes;
    return kibibytes << 10;
  }
  return 0;
}

// Returns the least value of a file over this process's control group and the groups around it.
std::optional<int64_t> GroupLimit(const std::string& file) {
  std::string group = LineOf("/proc/self/cgroup");
  if (!group.starts_with("0::/")) return std::nullopt;  // Version 1 of control groups.
  group = group.substr(3);
  std::optional<int64_t> least;
  for (;;) {
    if (const std::optional<int64_t> limit = NumberOf("/sys/fs/cgroup" + group + "/" + file))
      least = std::min(*limit, least.value_or(*limit));
    if (group.empty() || group == "/") return least;
    group.resize(group.rfind('/'));
  }
}

Finding Processor() {
  Finding finding{.what = "processor"};
  switch (ProcessorCpuLevel()) {
    case CpuLevel::kAvx512: finding.found = "AVX-512"; break;
    case CpuLevel::kAvx2: finding.found = "AVX2"; break;
    case CpuLevel::kBaseline:
      finding = {Grade::kNote, "processor", "neither AVX2 nor AVX-512",
                 "Programs run several times slower; use an x86-64 processor with AVX2."};
  }
  absl::StrAppend(&finding.found, ", ", sysconf(_SC_NPROCESSORS_ONLN), " cores");
  return finding;
}

Finding Memory() {
  constexpr int64_t kEnough = int64_t{2} << 30;
  const int64_t available = MemoryField("MemAvailable");
  Finding finding{.what = "memory",
                  .found = Bytes(MemoryField("MemTotal")) + ", " + Bytes(available) + " available"};
  const std::optional<int64_t> group = GroupLimit("memory.max");
  if (group) finding.found += ", limited to " + Bytes(*group) + " by the control group";
  if (std::min(available, group.value_or(available)) < kEnough) {
    finding.grade = Grade::kNote;
    finding.advice = "Give the daemon --host-memory and --side-memory that fit, or free memory.";
  }
  if (NumberOf("/proc/sys/vm/overcommit_memory") == 2) {
    finding.grade = Grade::kNote;
    finding.found += ", no overcommit";
    finding.advice =
        "Give the daemon a --host-memory that the kernel can commit (vm.overcommit_memory is 2).";
  }
  return finding;
}

Finding HugePages() {
  const std::string line = LineOf("/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t begin = line.find('['), end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos)
    return {Grade::kNote, "huge pages", "the kernel has none", "Large arrays take longer to touch at first."};
  const std::string chosen = line.substr(begin + 1, end - begin - 1);
  if (chosen != "never") return {.what = "huge pages", .found = chosen};
  return {Grade::kNote, "huge pages", chosen,
          "Large arrays are slower: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"};
}

Finding Descriptors() {
  constexpr rlim_t kEnough = 4096;
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  Finding finding{.what = "descriptors", .found = absl::StrCat("at most ", limit.rlim_max)};
  if (limit.rlim_max >= kEnough) return finding;
  finding.grade = Grade::kNote;
  finding.advice = absl::StrCat("Raise the limit to ", kEnough,
                                " (ulimit -n, LimitNOFILE=): a daemon of this user serves few clients.");
  return finding;
}

Finding Threads() {
  constexpr int64_t kEnough = 512;
  rlimit limit = {};
  getrlimit(RLIMIT_NPROC, &limit);
  const int64_t group = GroupLimit("pids.max").value_or(std::numeric_limits<int64_t>::max());
  const int64_t own = limit.rlim_cur == RLIM_INFINITY || geteuid() == 0
                          ? std::numeric_limits<int64_t>::max()
                          : static_cast<int64_t>(limit.rlim_cur);
  const int64_t most = std::min(group, own);
  if (most == std::numeric_limits<int64_t>::max()) return {.what = "threads", .found = "no limit"};
  Finding finding{.what = "threads", .found = absl::StrCat("at most ", most)};
  if (most >= kEnough) return finding;
  finding.grade = Grade::kNote;
  finding.advice = absl::StrCat("Raise the limit to ", kEnough, " (ulimit -u, TasksMax=, pids.max).");
  return finding;
}

// Shared memory carries bulk bytes between a client and a daemon of one machine; and machine code is mapped
// from such memory, too.
Finding SharedMemory() {
  const int memory = memfd_create("hlod-doctor", MFD_CLOEXEC);
  if (memory < 0) {
    return {
        Grade::kNote, "shared memory", "memfd_create is refused",
        "Bulk bytes go through sockets, and programs stay interpreted; allow memfd_create in the sandbox."};
  }
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const bool sized = ftruncate(memory, static_cast<off_t>(page)) == 0;
  void* const code = sized ? mmap(nullptr, page, PROT_READ | PROT_EXEC, MAP_SHARED, memory, 0) : MAP_FAILED;
  if (code != MAP_FAILED) munmap(code, page);
  close(memory);
  if (code != MAP_FAILED) return {.what = "shared memory", .found = "yes, also for machine code"};
  return {Grade::kNote, "shared memory", "not for machine code",
          "Programs stay interpreted, and oneDNN may fail; allow executable mappings."};
}

}  // namespace

std::vector<Finding> ExamineMachine() {
  return {Processor(), Memory(), HugePages(), Descriptors(), Threads(), SharedMemory()};
}

}  // namespace hlod::cli
