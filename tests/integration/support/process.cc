// Starts processes with posix_spawn, which does not run our code between fork and exec.
#include "tests/integration/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/time/clock.h"

extern char** environ;

namespace hlod {
namespace {

// Reads one byte. Returns 1, or 0 at the end of the output, or -1 after the deadline.
int ReadByte(int fd, char* byte, absl::Time deadline) {
  pollfd waiting = {.fd = fd, .events = POLLIN};
  const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(deadline - absl::Now()), 0, 1 << 30);
  if (poll(&waiting, 1, static_cast<int>(ms)) != 1) return -1;
  return read(fd, byte, 1) == 1 ? 1 : 0;
}

}  // namespace

std::string Beside(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

Process::Process(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int error = posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  output_ = ends[0];
  if (error == 0) return;
  std::fprintf(stderr, "%s cannot be started: %s\n", words[0].c_str(), std::strerror(error));
  std::abort();
}

Process::~Process() {
  Kill();
  close(output_);
}

std::string Process::ReadLine(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  std::string line;
  for (char byte; ReadByte(output_, &byte, deadline) == 1 && byte != '\n';) line += byte;
  return line;
}

bool Process::WaitForEndOfOutput(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  int read = 1;
  for (char byte; read == 1;) read = ReadByte(output_, &byte, deadline);
  return read == 0;
}

void Process::Kill() {
  if (exit_.has_value()) return;
  kill(pid_, SIGKILL);
  WaitForExit(absl::InfiniteDuration());
}

std::optional<int> Process::WaitForExit(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!exit_.has_value()) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (absl::Now() >= deadline) {
      break;
    } else {
      absl::SleepFor(absl::Milliseconds(2));  // tidy: waitpid has no deadline.
    }
  }
  return exit_;
}

}  // namespace hlod
