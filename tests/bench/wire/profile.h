// The parts of a round trip's time: a process's processor time and waits, by the kernel's counts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace hlod::bench {

// Sums over all threads of a process, since they started.
struct Work {
  double cpu_us = 0;   // The time on a processor, in user mode and in the kernel.
  double late_us = 0;  // The time ready to run, waiting for a processor.
  int64_t waits = 0;   // The number of times that a thread went to sleep; each is woken later.
  Work operator-(const Work& other) const {
    return {cpu_us - other.cpu_us, late_us - other.late_us, waits - other.waits};
  }
};

// Returns the number after `name` in a file of lines like "name: number".
inline int64_t NumberIn(const std::filesystem::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string word; in >> word;) {
    if (word != name) continue;
    int64_t number = 0;
    in >> number;
    return number;
  }
  return 0;
}

inline Work WorkOf(int pid) {
  Work work;
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator(process / "task", error)) {
    double cpu_ns = 0, late_ns = 0;
    std::ifstream(task.path() / "schedstat") >> cpu_ns >> late_ns;
    work.cpu_us += cpu_ns / 1e3;
    work.late_us += late_ns / 1e3;
    work.waits += NumberIn(task.path() / "status", "voluntary_ctxt_switches:");
  }
  return work;
}

}  // namespace hlod::bench
