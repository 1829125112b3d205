// Runs a test under a time limit: limit SECONDS COMMAND ARGUMENT...
//
// When the limit has passed (or on SIGUSR1), it prints the stack of every thread of every process that the
// test has started, kills them, and exits with 124. Else it exits as the test did. It knows the processes by
// $HLOD_TEST_STACKS in their environment. The stacks come from tests/support/stacks.cc, which is preloaded,
// and the names from addr2line.
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/stacks.h"

namespace hlod {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kTimedOut = 124;                  // The exit code of timeout(1).
constexpr std::chrono::seconds kAnswerTime(5);  // Time for one thread to write its stack, on a busy machine.
constexpr char kMark[] = "HLOD_TEST_STACKS";

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns the numbered entries of a folder of /proc: processes, or threads of one.
std::vector<pid_t> Numbers(const fs::path& folder) {
  std::vector<pid_t> numbers;
  std::error_code gone;
  for (fs::directory_iterator it(folder, gone), end; !gone && it != end; it.increment(gone)) {
    const std::string name = it->path().filename().string();
    pid_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ptr == name.data() + name.size())
      numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// Returns a field such as "SigCgt" of /proc/PID/task/TID/status; empty when the thread is gone.
std::string StatusField(const fs::path& task, std::string_view name) {
  std::ifstream in(task / "status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name) && line.size() > name.size() && line[name.size()] == ':')
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  }
  return "";
}

bool HasSignal(const std::string& mask) {  // `mask` is a field of /proc/PID/status, in hexadecimal.
  return !mask.empty() && (std::stoull(mask, nullptr, 16) >> (StackSignal() - 1) & 1);
}

// The addresses at which a process has mapped its files.
class Mappings {
 public:
  struct MappedAddress {
    std::string file;
    uint64_t offset;
  };

  explicit Mappings(pid_t pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(in, line);) {
      uint64_t begin = 0, end = 0, offset = 0;
      int path_at = 0;
      if (sscanf(line.c_str(), "%lx-%lx %*s %lx %*s %*s %n", &begin, &end, &offset, &path_at) < 3) continue;
      const std::string path = line.substr(std::min<size_t>(path_at, line.size()));
      if (!path.starts_with('/')) continue;
      if (offset == 0) bases_.try_emplace(path, begin);
      ranges_.push_back({begin, end, path});
    }
  }

  // Returns the file that holds the code at an address, and the address in terms of the file's symbols.
  std::optional<MappedAddress> Find(uint64_t address) const {
    for (const Range& range : ranges_) {
      if (address < range.begin || address >= range.end) continue;
      const auto base = bases_.find(range.file);
      if (base == bases_.end()) return std::nullopt;
      return MappedAddress{range.file, address - base->second};
    }
    return std::nullopt;
  }

 private:
  struct Range {
    uint64_t begin, end;
    std::string file;
  };
  std::vector<Range> ranges_;
  std::map<std::string, uint64_t> bases_;
};

// Returns the function and line of addresses in a file, with inlined functions, from addr2line: one text per
// address.
std::vector<std::string> Names(const std::string& file, const std::vector<uint64_t>& offsets) {
  std::ostringstream command;
  command << "addr2line -aCfip -e '" << file << "'" << std::hex;
  for (uint64_t offset : offsets) command << " 0x" << offset;
  command << " 2>/dev/null";
  std::vector<std::string> names;
  FILE* const pipe = popen(command.str().c_str(), "r");
  if (pipe == nullptr) return names;
  char line[4096];
  while (fgets(line, sizeof line, pipe) != nullptr) {
    const std::string_view text(line);
    if (text.starts_with("0x") && text.find(": ") != text.npos) {
      names.emplace_back(text.substr(text.find(": ") + 2));
    } else if (!names.empty()) {
      names.back() += "     " + std::string(text);
    }
  }
  pclose(pipe);
  return names;
}

void PrintStack(const StackRecord& record, const Mappings& mappings) {
  std::map<std::string, std::vector<uint64_t>> offsets;  // The offsets by file.
  std::vector<std::optional<Mappings::MappedAddress>> places;
  for (long i = 2; i < record.depth; ++i) {
    // A return address is after its call; the innermost frame's address is where it was interrupted.
    const uint64_t address = reinterpret_cast<uint64_t>(record.addresses[i]) - (i > 2 ? 1 : 0);
    places.push_back(mappings.Find(address));
    if (places.back()) offsets[places.back()->file].push_back(places.back()->offset);
  }
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [file, wanted] : offsets) names[file] = Names(file, wanted);
  std::map<std::string, size_t> next;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) {
      printf("    #%zu %p\n", i, record.addresses[i + 2]);
      continue;
    }
    const std::vector<std::string>& known = names[places[i]->file];
    const size_t at = next[places[i]->file]++;
    const std::string name = at < known.size() ? known[at] : "?? ??:0\n";
    if (!name.starts_with("??")) {
      printf("    #%zu %s", i, name.c_str());
    } else {
      printf("    #%zu %s+0x%lx\n", i, places[i]->file.c_str(), places[i]->offset);
    }
  }
}

// A test's processes and their stacks.
class Processes {
 public:
  explicit Processes(std::string stacks_file) : stacks_file_(std::move(stacks_file)) {}

  std::vector<pid_t> LiveReason() const {
    const std::string mark = std::string(kMark) + "=" + stacks_file_ + '\0';
    std::vector<pid_t> alive;
    for (pid_t pid : Numbers("/proc")) {
      const fs::path process = "/proc/" + std::to_string(pid);
      if (pid == getpid() || StatusField(process, "State").starts_with('Z')) continue;
      if (('\0' + ReadAll(process / "environ")).find('\0' + mark) != std::string::npos) alive.push_back(pid);
    }
    return alive;
  }

  void PrintStacks() const {
    for (pid_t pid : LiveReason()) {
      const fs::path process = "/proc/" + std::to_string(pid);
      std::string command = ReadAll(process / "cmdline");
      std::ranges::replace(command, '\0', ' ');
      printf("\n  process %d: %s\n", pid, command.c_str());
      const Mappings mappings(pid);
      for (pid_t thread : Numbers(process / "task")) PrintThread(pid, thread, mappings);
      fflush(stdout);
    }
  }

  void Kill() const {
    for (std::vector<pid_t> alive = LiveReason(); !alive.empty(); alive = LiveReason()) {
      for (pid_t pid : alive) kill(pid, SIGKILL);
      usleep(10'000);
    }
  }

 private:
  void PrintThread(pid_t pid, pid_t thread, const Mappings& mappings) const {
    const fs::path task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
    const std::string state = StatusField(task, "State");
    if (state.empty()) return;  // The thread has ended.
    std::string name = ReadAll(task / "comm");
    if (!name.empty()) name.pop_back();
    printf("  thread %d (%s), state %s\n", thread, name.c_str(), state.c_str());
    const std::optional<StackRecord> record = Ask(pid, thread, task);
    if (record) {
      PrintStack(*record, mappings);
    } else {
      printf("    no stack: it does not take the signal; it waits in %s, system call %s\n",
             ReadAll(task / "wchan").c_str(), ReadAll(task / "syscall").c_str());
    }
  }

  std::optional<StackRecord> Ask(pid_t pid, pid_t thread, const fs::path& task) const {
    // Without a handler the signal would end the process.
    if (!HasSignal(StatusField(task, "SigCgt")) || HasSignal(StatusField(task, "SigBlk")))
      return std::nullopt;
    std::ifstream in(stacks_file_, std::ios::binary);
    in.seekg(0, std::ios::end);
    syscall(SYS_tgkill, pid, thread, StackSignal());
    StackRecord record;
    for (const Clock::time_point end = Clock::now() + kAnswerTime; Clock::now() < end; usleep(2'000)) {
      in.clear();
      while (in.read(reinterpret_cast<char*>(&record), sizeof record)) {
        if (record.thread == thread) return record;
      }
    }
    return std::nullopt;
  }

  const std::string stacks_file_;
};

pid_t Start(char** command, const std::string& stacks_file) {
  const auto prepend = [](const char* name, const std::string& value, const char* separator) {
    const char* const old = getenv(name);
    setenv(name, old && *old ? (value + separator + old).c_str() : value.c_str(), 1);
  };
  setenv("HLOD_COMPILE_CACHE", "none", 0);  // The counts of a test must not depend on earlier runs.
  setenv(kMark, stacks_file.c_str(), 1);
  const std::string library =
      (fs::read_symlink("/proc/self/exe").parent_path() / "libhlod_stacks.so").string();
  const char* const preload = getenv("LD_PRELOAD");
  if (preload == nullptr || std::string_view(preload).find(library) == std::string_view::npos)
    prepend("LD_PRELOAD", library, ":");
  // AddressSanitizer must be the first library, but the preloaded one allocates no memory before it.
  prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ":");

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int failed = posix_spawnp(&child, command[0], nullptr, &attributes, command, environ);
  posix_spawnattr_destroy(&attributes);
  if (failed) fprintf(stderr, "limit: cannot start %s: %s\n", command[0], strerror(failed));
  return failed ? -1 : child;
}

// Waits until `child` ends and returns the exit code; nullopt when the child is to be killed.
std::optional<int> Wait(pid_t child, const sigset_t& signals, Clock::time_point limit) {
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status)) return WEXITSTATUS(status);
      printf("The test was ended by signal %d (%s).\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
      return 128 + WTERMSIG(status);
    }
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(limit - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    const timespec time = {.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &time);
    if (signal == SIGUSR1) return std::nullopt;
    if (signal > 0 && signal != SIGCHLD) kill(child, signal);
  }
}

int Main(int argc, char** argv) {
  int seconds = 0;
  if (argc >= 3) std::from_chars(argv[1], argv[1] + strlen(argv[1]), seconds);
  if (seconds <= 0) {
    fprintf(stderr, "usage: limit SECONDS COMMAND ARGUMENT...\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGCHLD, SIGUSR1, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);

  std::string stacks_file = (fs::temp_directory_path() / "hlod-stacks-XXXXXX").string();
  const int file = mkstemp(stacks_file.data());
  if (file < 0) {
    fprintf(stderr, "limit: cannot make %s: %s\n", stacks_file.c_str(), strerror(errno));
    return 2;
  }
  close(file);

  const Clock::time_point begin = Clock::now();
  const pid_t child = Start(argv + 2, stacks_file);
  std::optional<int> result = child < 0 ? 127 : Wait(child, signals, begin + std::chrono::seconds(seconds));
  if (!result) {
    const auto ran = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
    printf("\nThe test has not ended after %ld s (its limit is %d s). What its processes are doing:\n",
           static_cast<long>(ran), seconds);
    const Processes processes(stacks_file);
    processes.PrintStacks();
    processes.Kill();
    waitpid(child, nullptr, 0);
    result = kTimedOut;
  }
  fflush(stdout);
  unlink(stacks_file.c_str());
  return *result;
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) { return hlod::Main(argc, argv); }
