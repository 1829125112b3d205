// Where a daemon is looked for, and how a private one is started.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connector.h"
#include "common/base/status.h"
#include "common/rpc/shared_memory.h"

extern char** environ;

namespace hlod::internal {
namespace {

constexpr char kSystemSocket[] = "/run/hlod/hlod.sock";

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsExecutable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

bool Listens(const std::string& path) {
  rpc::Endpoint endpoint;
  endpoint.path = path;
  return OpenChannel(endpoint, {}, "", absl::Now() + absl::Seconds(1)).ok();
}

// The sockets a daemon of this user, or of the system, would have.
std::vector<std::string> UsualSockets() {
  const std::string users = rpc::DefaultSocketPath(Environment("XDG_RUNTIME_DIR"));
  if (users == kSystemSocket) return {users};
  return {users, kSystemSocket};
}

// Leaves a child that is about to exec with stderr and one descriptor: a reader of the program's output waits
// until no process has its pipe open.
void KeepOnly(int kept, int nothing) {
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    // A kernel before 5.11.
    const int64_t open_max = std::min<int64_t>(sysconf(_SC_OPEN_MAX), 1 << 16);
    for (int fd = STDERR_FILENO + 1; fd < open_max; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  fcntl(kept, F_SETFD, 0);
}

}  // namespace

absl::StatusOr<rpc::Endpoint> FindAddress(const std::string& address) {
  if (!address.empty()) return rpc::ParseEndpoint(address);
  if (const std::string from_environment = Environment("HLOD_ADDRESS"); !from_environment.empty()) {
    absl::StatusOr<rpc::Endpoint> endpoint = rpc::ParseEndpoint(from_environment);
    return endpoint.ok() ? std::move(endpoint) : Annotate(endpoint.status(), "reading $HLOD_ADDRESS");
  }
  std::string tried;
  for (const std::string& path : UsualSockets()) {
    if (Listens(path)) return rpc::ParseEndpoint("unix:" + path);
    tried += (tried.empty() ? "" : " or ") + path;
  }
  return Unavailable(
      "No daemon is running: none answers at %s, and HLOD_ADDRESS is not set. Start one with `hlod`.", tried);
}

absl::StatusOr<std::unique_ptr<Connector>> FindDaemon(const ConnectOptions& options) {
  RETURN_IF_ERROR(CheckCredentials(options));
  const absl::StatusOr<rpc::Endpoint> endpoint = FindAddress(options.address);
  if (endpoint.ok()) return MakeConnector(*endpoint, options.tls, options.token);
  if (endpoint.status().code() != absl::StatusCode::kUnavailable || !options.private_daemon)
    return endpoint.status();
  ASSIGN_OR_RETURN(const int socket, StartPrivateDaemon(options.daemon_flags));
  rpc::Endpoint inherited;
  inherited.kind = rpc::Endpoint::Kind::kDescriptor;
  inherited.descriptor = socket;
  return MakeConnector(inherited, {}, options.token);
}

absl::StatusOr<std::string> FindDaemonBinary() {
  if (const std::string given = Environment("HLOD_DAEMON"); !given.empty()) {
    if (IsExecutable(given)) return given;
    return NotFound("HLOD_DAEMON (%s) is not a program that can be run.", given);
  }
  std::vector<std::filesystem::path> places;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back(program.parent_path());
    places.push_back(program.parent_path().parent_path() / "bin");
  }
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&FindDaemonBinary), &library) != 0 && library.dli_fname != nullptr) {
    const std::filesystem::path folder = std::filesystem::absolute(library.dli_fname, error).parent_path();
    places.push_back(folder);
    places.push_back(folder.parent_path() / "bin");
    places.push_back(folder.parent_path().parent_path() / "bin");  // lib/x86_64-linux-gnu
  }
  const std::string path = Environment("PATH");
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) places.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  for (const std::filesystem::path& place : places) {
    if (IsExecutable(place / "hlod")) return (place / "hlod").string();
  }
  return NotFound(
      "The daemon's program `hlod` is neither beside this program or library nor on PATH; set HLOD_DAEMON to "
      "it.");
}

absl::StatusOr<int> StartPrivateDaemon(const std::vector<std::string>& flags) {
  ASSIGN_OR_RETURN(const std::string binary, FindDaemonBinary());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Unavailable("No socket pair for a private daemon: %s.", std::strerror(errno));
  }
  rpc::Descriptor ours(ends[0]), theirs(ends[1]);
  // Above stdin, stdout and stderr, also where this program has closed those.
  theirs = rpc::Descriptor(fcntl(theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const rpc::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!theirs.valid() || !nothing.valid()) {
    return Unavailable("No descriptors for a private daemon: %s.", std::strerror(errno));
  }
  std::vector<std::string> words = {binary, "--inherit-fd", std::to_string(theirs.get())};
  // The daemon shares the program's stderr: only what the user must know goes there.
  if (std::find(flags.begin(), flags.end(), "--log-level") == flags.end())
    words.insert(words.end(), {"--log-level", "warn"});
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  // Forked twice, so that init reaps the daemon and the program does not have a child it did not start.
  // Between fork and exec only what is safe in a program with threads.
  const pid_t child = fork();
  if (child < 0) return Unavailable("No process for a private daemon: %s.", std::strerror(errno));
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild != 0) _exit(grandchild < 0 ? 1 : 0);
    setsid();  // The terminal's Ctrl-C is for the program; the daemon ends with the socket.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    KeepOnly(theirs.get(), nothing.get());
    execve(binary.c_str(), arguments.data(), environ);
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Unavailable("The private daemon (%s) could not be started.", binary);
  return ours.Release();
}

}  // namespace hlod::internal
