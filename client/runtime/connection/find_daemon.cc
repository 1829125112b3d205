// Looks for a running daemon and the credentials for it, and starts a private one.
#include <dlfcn.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/session/command_log_writer.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/base/system/switch.h"
#include "common/rpc/shared_memory.h"

extern char** environ;

namespace hlod::runtime {
namespace {

// The address that asks for a private daemon.
constexpr char kPrivate[] = "private";

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsExecutable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

rpc::Endpoint UsualEndpoint(const std::string& path) {
  rpc::Endpoint endpoint;
  endpoint.path = path;
  endpoint.found = true;
  return endpoint;
}

absl::Status TryToConnect(const rpc::Endpoint& endpoint) {
  return OpenChannel(endpoint, {}, "", absl::Now() + absl::Seconds(1)).status();
}

// Returns the error for a daemon that this user may not connect to, so that it is not treated as if no daemon
// ran.
absl::Status MayNotConnect(const std::string& path) {
  struct stat file = {};
  group entry = {};
  group* members = nullptr;
  char names[4096];
  if (stat(path.c_str(), &file) == 0) getgrgid_r(file.st_gid, &entry, names, sizeof(names), &members);
  const std::string why = members == nullptr
                              ? "permission denied"
                              : absl::StrCat("the members of the group ", members->gr_name, " may");
  return MakeError(ErrorKind::kAuth,
                   absl::StrFormat("This user may not connect to the daemon at unix:%s: %s. Give the address "
                                   "of another one (\"private\" starts one for this program).",
                                   path, why));
}

// Returns the sockets that a daemon of this user, or of the system, would have.
std::vector<std::string> UsualSockets() {
  const std::string users = rpc::DefaultSocketPath(Environment("XDG_RUNTIME_DIR"));
  if (users == rpc::kSystemSocketPath) return {users};
  return {users, rpc::kSystemSocketPath};
}

// Closes all descriptors of a child that is about to exec, except stderr and one: otherwise a reader of the
// program's output would wait until the child ends. stdin and stdout become `nothing` (/dev/null).
void KeepOnly(int kept, int nothing) {
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    // The kernel is older than 5.11.
    const int64_t open_max = std::min<int64_t>(sysconf(_SC_OPEN_MAX), 1 << 16);
    for (int fd = STDERR_FILENO + 1; fd < open_max; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  fcntl(kept, F_SETFD, 0);
}

absl::StatusOr<rpc::Endpoint> Parse(const std::string& address) {
  absl::StatusOr<rpc::Endpoint> endpoint = rpc::ParseEndpoint(address);
  if (endpoint.ok()) return endpoint;
  return WithKind(endpoint.status(), ErrorKind::kArgument);
}

class PrivateConnector : public Connector {
 public:
  PrivateConnector(std::unique_ptr<Connector> connector, std::vector<std::string> flags)
      : connector_(std::move(connector)), flags_(std::move(flags)) {}
  absl::StatusOr<std::shared_ptr<Pipe>> Connect(absl::Time deadline) override {
    return connector_->Connect(deadline);
  }
  absl::Status Explain(const absl::Status& status) override { return ExplainPrivateDaemon(status, flags_); }
  std::shared_ptr<BulkChannel> bulk() override { return connector_->bulk(); }
  const std::string& address() const override { return connector_->address(); }
  bool local() const override { return connector_->local(); }

 private:
  const std::unique_ptr<Connector> connector_;
  const std::vector<std::string> flags_;
};

// Reads the file that a variable names by `read` into `text`; leaves `text` when the variable is not set.
absl::Status ReadFileOf(const char* variable, absl::StatusOr<std::string> (*read)(const std::string&),
                        std::string& text) {
  const std::string path = Environment(variable);
  if (path.empty()) return absl::OkStatus();
  absl::StatusOr<std::string> bytes = read(path);
  if (!bytes.ok())
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("$%s: %s", variable, FromAbsl(bytes.status().message())));
  text = *std::move(bytes);
  return absl::OkStatus();
}

}  // namespace

std::string CommandLogPath() { return Environment("HLOD_COMMAND_LOG"); }

bool MayStartHiddenDaemon() { return ReadSwitch("HLOD_HOST_DAEMON", true).value_or(true); }

absl::Status CheckSwitches() {
  for (const char* const variable : {"HLOD_HOST_DAEMON", "HLOD_PARTITION", "HLOD_WARNINGS"}) {
    const absl::Status status = ReadSwitch(variable, true).status();
    if (!status.ok()) return WithKind(status, ErrorKind::kArgument);
  }
  return absl::OkStatus();
}

absl::StatusOr<rpc::Endpoint> FindAddress(const std::string& address) {
  if (!address.empty()) return Parse(address);
  if (const std::string from_environment = Environment("HLOD_ADDRESS"); !from_environment.empty()) {
    if (from_environment == kPrivate) {
      return MakeError(
          ErrorKind::kLostSession,
          "HLOD_ADDRESS is \"private\": each program has a daemon of its own, and none that others "
          "could connect to. Give an address.");
    }
    absl::StatusOr<rpc::Endpoint> endpoint = Parse(from_environment);
    return endpoint.ok() ? std::move(endpoint) : Annotate(endpoint.status(), "reading $HLOD_ADDRESS");
  }
  std::string tried;
  for (const std::string& path : UsualSockets()) {
    rpc::Endpoint endpoint = UsualEndpoint(path);
    const absl::Status status = TryToConnect(endpoint);
    if (status.ok()) return endpoint;
    // If this user may connect to the socket, the listener is not trusted; otherwise the permission is
    // missing.
    if (KindOf(status) == ErrorKind::kAuth)
      return euidaccess(path.c_str(), W_OK) == 0 ? status : MayNotConnect(path);
    tried += (tried.empty() ? "" : " or ") + path;
  }
  return MakeError(ErrorKind::kLostSession,
                   absl::StrFormat("No daemon is running: none answers at %s, and HLOD_ADDRESS is not set. "
                                   "Start one with `hlod`.",
                                   tried));
}

absl::StatusOr<std::optional<AbstractRun>> AbstractRunOfEnvironment() {
  return ParseAbstractRun(Environment("HLOD_ABSTRACT"));
}

absl::StatusOr<rpc::RingUse> RingUseOfEnvironment() {
  absl::StatusOr<rpc::RingUse> use = rpc::ParseRingUse(Environment("HLOD_RING"));
  if (use.ok()) return use;
  return MakeError(ErrorKind::kArgument,
                   absl::StrFormat("$HLOD_RING: %s.", FromAbsl(use.status().message())));
}

absl::StatusOr<ConnectOptions> WithCredentialsOfEnvironment(const ConnectOptions& options,
                                                            rpc::Endpoint::Kind kind) {
  ConnectOptions with = options;
  if (!options.address.empty() || kind != rpc::Endpoint::Kind::kTcp) return with;
  if (with.token.empty()) {
    with.token = Environment("HLOD_TOKEN");
    RETURN_IF_ERROR(ReadFileOf("HLOD_TOKEN_FILE", &ReadSecretFile, with.token));
  }
  TlsOptions& tls = with.tls;
  if (!tls.enabled && tls.root_certificates.empty() && tls.certificate.empty()) {
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_CA", &ReadFile, tls.root_certificates));
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_CERT", &ReadFile, tls.certificate));
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_KEY", &ReadSecretFile, tls.key));
    if (tls.certificate.empty() != tls.key.empty())
      return MakeError(ErrorKind::kArgument, "$HLOD_TLS_CERT and $HLOD_TLS_KEY belong together.");
  }
  RETURN_IF_ERROR(CheckCredentials(with));
  return with;
}

absl::StatusOr<std::optional<rpc::Endpoint>> FindRunning(const ConnectOptions& options) {
  const bool wants_private =
      options.address == kPrivate ||
      (options.address.empty() && options.private_daemon && Environment("HLOD_ADDRESS") == kPrivate);
  if (wants_private) return std::nullopt;
  absl::StatusOr<rpc::Endpoint> endpoint = FindAddress(options.address);
  if (endpoint.ok()) return *std::move(endpoint);
  if (endpoint.status().code() != absl::StatusCode::kUnavailable || !options.private_daemon)
    return endpoint.status();
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<Connector>> FindDaemon(const ConnectOptions& options) {
  RETURN_IF_ERROR(CheckSwitches());
  RETURN_IF_ERROR(CheckCredentials(options));
  ASSIGN_OR_RETURN(const std::optional<rpc::Endpoint> running, FindRunning(options));
  if (running.has_value()) {
    ASSIGN_OR_RETURN(const ConnectOptions with, WithCredentialsOfEnvironment(options, running->kind));
    return MakeConnector(*running, with.tls, with.token);
  }
  ASSIGN_OR_RETURN(const int socket, StartPrivateDaemon(options.daemon_flags));
  rpc::Endpoint inherited;
  inherited.kind = rpc::Endpoint::Kind::kDescriptor;
  inherited.descriptor = socket;
  return std::make_unique<PrivateConnector>(MakeConnector(inherited, {}, options.token),
                                            options.daemon_flags);
}

absl::StatusOr<std::string> FindDaemonBinary() {
  if (const std::string given = Environment("HLOD_DAEMON"); !given.empty()) {
    if (IsExecutable(given)) return given;
    return MakeError(ErrorKind::kLostSession,
                     absl::StrFormat("HLOD_DAEMON (%s) is not a program that can be run.", given));
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
  return MakeError(ErrorKind::kLostSession,
                   "The daemon's program `hlod` is neither beside this program or library nor on PATH; set "
                   "HLOD_DAEMON to it.");
}

namespace {

// Returns the command line of a private daemon.
std::vector<std::string> WordsOf(const std::string& binary, int socket,
                                 const std::vector<std::string>& flags) {
  std::vector<std::string> words = {binary, "--inherit-fd", std::to_string(socket)};
  // The daemon shares the program's stderr, so only messages for the user go there.
  if (std::find(flags.begin(), flags.end(), "--log-level") == flags.end())
    words.insert(words.end(), {"--log-level", "warn"});
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

std::vector<char*> ArgumentsOf(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  return arguments;
}

// The way in which a daemon ended.
struct Ending {
  std::string how;   // "with exit code 2"
  std::string said;  // The last lines of its output.
};
// Starts a daemon without a client and returns how it ends; nullopt if it has not ended by the deadline.
std::optional<Ending> TryWithoutClient(const std::vector<std::string>& flags, absl::Time deadline) {
  constexpr size_t kSaidMax = 4096;
  const absl::StatusOr<std::string> binary = FindDaemonBinary();
  int ends[2], output[2];
  if (!binary.ok() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  rpc::Descriptor ours(ends[0]), theirs(ends[1]);
  ours = rpc::Descriptor();  // Without a client, a daemon that can start ends at once.
  if (pipe2(output, O_CLOEXEC) != 0) return std::nullopt;
  const rpc::Descriptor reading(output[0]);
  rpc::Descriptor writing(output[1]);
  theirs = rpc::Descriptor(fcntl(theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const rpc::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!theirs.valid() || !nothing.valid()) return std::nullopt;
  std::vector<std::string> words = WordsOf(*binary, theirs.get(), flags);
  const std::vector<char*> arguments = ArgumentsOf(words);
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    dup2(writing.get(), STDERR_FILENO);
    KeepOnly(theirs.get(), nothing.get());
    execve(words[0].c_str(), arguments.data(), environ);
    _exit(127);
  }
  writing = rpc::Descriptor();
  Ending ending;
  for (;;) {
    pollfd waiting = {.fd = reading.get(), .events = POLLIN};
    const int64_t ms = std::clamp<int64_t>(absl::ToInt64Milliseconds(deadline - absl::Now()), 0, 1 << 20);
    const int ready = poll(&waiting, 1, static_cast<int>(ms));
    if (ready < 0 && errno == EINTR) continue;
    char bytes[1024];
    const ssize_t n = ready > 0 ? read(reading.get(), bytes, sizeof(bytes)) : -1;
    if (n <= 0) {
      if (n < 0) kill(child, SIGKILL);
      break;
    }
    ending.said.append(bytes, static_cast<size_t>(n));
    if (ending.said.size() > kSaidMax) ending.said.erase(0, ending.said.size() - kSaidMax);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;  // The program has reaped its children itself.
  }
  while (ending.said.ends_with('\n')) ending.said.pop_back();
  ending.how = WIFEXITED(status) ? absl::StrFormat("exit code %d", WEXITSTATUS(status))
                                 : absl::StrFormat("signal %d", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::nullopt : std::optional<Ending>(ending);
}

}  // namespace

absl::Status ExplainPrivateDaemon(const absl::Status& status, const std::vector<std::string>& flags) {
  if (status.code() != absl::StatusCode::kUnavailable || KindOf(status) != ErrorKind::kNone) return status;
  const std::optional<Ending> ending = TryWithoutClient(flags, absl::Now() + absl::Seconds(5));
  if (!ending.has_value()) {
    return MakeError(ErrorKind::kLostSession,
                     absl::StrFormat("The private daemon ended before it answered (%s).",
                                     FromAbsl(status.message()).substr(0, status.message().find('\n'))));
  }
  return MakeError(ErrorKind::kLostSession,
                   absl::StrFormat("The private daemon cannot start (%s). It says:\n%s", ending->how,
                                   ending->said.empty() ? "(nothing)" : ending->said));
}

absl::StatusOr<int> StartPrivateDaemon(const std::vector<std::string>& flags) {
  ASSIGN_OR_RETURN(const std::string binary, FindDaemonBinary());
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Unavailable("No socket pair for a private daemon: %s.", std::strerror(errno));
  }
  rpc::Descriptor ours(ends[0]), theirs(ends[1]);
  // Takes a number above those of stdin, stdout and stderr, which this program may have closed.
  theirs = rpc::Descriptor(fcntl(theirs.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const rpc::Descriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!theirs.valid() || !nothing.valid()) {
    return Unavailable("No descriptors for a private daemon: %s.", std::strerror(errno));
  }
  std::vector<std::string> words = WordsOf(binary, theirs.get(), flags);
  const std::vector<char*> arguments = ArgumentsOf(words);

  // Forks twice, so that init reaps the daemon, and the program has no child that it did not start. All calls
  // between fork and exec are safe in a program with threads.
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

}  // namespace hlod::runtime
