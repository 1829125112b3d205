// Starts, asks and ends the worker.
#include "client/partition/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/partition/interpreter.h"
#include "common/base/errors/status.h"

extern char** environ;

namespace hlod::partition {
namespace {

constexpr absl::Duration kStartLimit = absl::Seconds(60);
// A refusal holds this long: every compile asks, and an interpreter takes long to start. Later jaxlib may
// have been installed.
constexpr absl::Duration kRefusalLimit = absl::Minutes(1);

std::vector<std::string> EnvironmentWith(const std::string& package) {
  std::vector<std::string> variables;
  std::string path = package;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("PYTHONPATH=")) variables.emplace_back(text);
    else if (text.size() > 11) absl::StrAppend(&path, path.empty() ? "" : ":", ToAbsl(text.substr(11)));
  }
  if (!path.empty()) variables.push_back("PYTHONPATH=" + path);
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Returns the last line that a program printed to this file.
std::string LastLine(int file) {
  char text[4096];
  const off_t end = lseek(file, 0, SEEK_END);
  const off_t begin = std::max<off_t>(0, end - static_cast<off_t>(sizeof(text)));
  const ssize_t size = pread(file, text, sizeof(text), begin);
  if (size <= 0) return "";
  const absl::string_view all =
      absl::StripAsciiWhitespace(absl::string_view(text, static_cast<size_t>(size)));
  return std::string(all.substr(all.rfind('\n') == absl::string_view::npos ? 0 : all.rfind('\n') + 1));
}

// Starts a program whose stdin and stdout are `socket` and whose stderr is `log`. Returns its pid, or the
// negative errno.
pid_t Spawn(std::vector<std::string> words, std::vector<std::string> variables, int socket, int log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A Ctrl-C is for this process, which then ends the worker.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  const std::vector<char*> argv = Pointers(words), envp = Pointers(variables);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -error;
}

}  // namespace

Worker::~Worker() {
  const absl::MutexLock lock(&mutex_);
  Stop();
}

absl::StatusOr<Frame> Worker::Ask(const Frame& request, absl::Duration limit) {
  const absl::MutexLock lock(&mutex_);
  const bool was_there = socket_ >= 0 && owner_ == getpid();
  if (!was_there) RETURN_IF_ERROR(Start());
  const absl::Time deadline = absl::Now() + limit;
  absl::Status sent = WriteFrame(socket_, request, deadline);
  if (!sent.ok() && was_there && absl::IsAborted(sent)) {  // It ended since the last request.
    RETURN_IF_ERROR(Start());
    sent = WriteFrame(socket_, request, deadline);
  }
  absl::StatusOr<Frame> answer = sent.ok() ? ReadFrame(socket_, deadline) : sent;
  if (!answer.ok()) Stop();
  return answer;
}

absl::Status Worker::Start() {
  Stop();
  const std::string python = Interpreter();
  if (refusal_.interpreter == python && absl::Now() - refusal_.time < kRefusalLimit)
    return FailedPrecondition("%s", refusal_.reason);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return FailedPrecondition("A process that partitions programs cannot be started: %s.",
                              std::strerror(errno));
  const int log = memfd_create("hlod-partition", MFD_CLOEXEC);
  const pid_t pid =
      Spawn({python, "-m", "hlod.partition"}, EnvironmentWith(PackageFolder()), sockets[1], log);
  close(sockets[1]);
  if (pid < 0) {
    close(sockets[0]);
    close(log);
    return FailedPrecondition(
        "Partitioning runs in Python, and %s cannot be started: %s. Install Python 3.9 or later and "
        "`pip install 'jaxlib>=0.6'`, or name an interpreter in $HLOD_PYTHON.",
        python, std::strerror(-pid));
  }
  socket_ = sockets[0];
  pid_ = pid;
  owner_ = getpid();
  const absl::StatusOr<Frame> ready = ReadFrame(socket_, absl::Now() + kStartLimit);
  const std::string last_line = LastLine(log);
  close(log);
  if (ready.ok() && ready->header.value("ready", nlohmann::json()) == 1) return absl::OkStatus();
  Stop();
  if (ready.ok()) {
    const nlohmann::json reason = ready->header.value("error", nlohmann::json());
    refusal_ = {.interpreter = python,
                .reason = reason.is_string() ? reason.get<std::string>() : "The worker gave no reason.",
                .time = absl::Now()};
    return FailedPrecondition("%s", refusal_.reason);
  }
  return FailedPrecondition("%s -m hlod.partition, which partitions programs, did not start: %s", python,
                            last_line.empty() ? FromAbsl(ready.status().message()) : last_line);
}

void Worker::Stop() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  if (pid_ > 0 && owner_ == getpid()) {
    kill(-pid_, SIGKILL);  // With the processes that it has started.
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
}

Worker& SharedWorker() {
  static Worker worker;
  return worker;
}

}  // namespace hlod::partition
