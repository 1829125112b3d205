// A daemon as a child process of a test.
#include "hlod/testing.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>
#include <utility>

#include "absl/time/clock.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/process.h"
#include "common/base/errors/status.h"
#include "common/base/system/temporary_folder.h"

namespace hlod::testing {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(2);

// Returns a port that is free now.
absl::StatusOr<int> FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (!bound) return Unavailable("No free port on 127.0.0.1: %s.", std::strerror(errno));
  return ntohs(address.sin_port);
}

}  // namespace

struct Daemon::State {
  DaemonOptions options;
  TemporaryFolder folder;  // Not removed in a forked child.
  std::string binary, address, tcp_address;
  const runtime::OwnerProcess owner;
  pid_t pid = -1;
  std::optional<int> exit;

  ~State() {
    if (!owner.IsThisOne()) return;  // In a forked child: the daemon is the parent's.
    if (pid > 0 && !exit.has_value()) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }

  std::string LogPath() const { return folder.path() + "/stderr"; }
  std::string Log() const {
    std::ifstream file(LogPath());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  bool Running() {
    if (exit.has_value()) return false;
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) return true;
    exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return false;
  }

  absl::Status Launch() {
    std::vector<std::string> words = {binary, "--listen", address};
    if (options.tcp) {
      words.push_back("--listen");
      words.push_back(tcp_address);
    }
    // Runs without a persistent cache, so that a test's counts do not depend on earlier runs.
    const bool named = std::any_of(options.flags.begin(), options.flags.end(), [](const std::string& flag) {
      return flag == "--compile-cache" || flag.starts_with("--compile-cache=");
    });
    if (!named) words.insert(words.end(), {"--compile-cache", "none"});
    words.insert(words.end(), options.flags.begin(), options.flags.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = LogPath();
    const pid_t parent = getpid();
    exit.reset();
    pid = fork();
    if (pid < 0) return Unavailable("No process for the daemon: %s.", std::strerror(errno));
    if (pid == 0) {
      // The daemon must not outlive a test that crashes.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != parent) _exit(127);
      const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        dup2(out, STDERR_FILENO);
      }
      execv(binary.c_str(), arguments.data());
      _exit(127);
    }
    return AwaitAnswer();
  }

  absl::Status AwaitAnswer() {
    const absl::Time deadline = absl::Now() + options.timeout;
    absl::Status last;
    while (absl::Now() < deadline) {
      if (!Running()) {
        return Unavailable("The daemon (%s) ended with %d before it answered. It said:\n%s", binary, *exit,
                           Log());
      }
      last = OpenAll();
      if (last.ok()) return last;
      absl::SleepFor(kPollInterval);
    }
    return Annotate(last, "waiting for the daemon; it said:\n" + Log());
  }

  absl::Status OpenAll() {
    for (const std::string& where : {address, tcp_address}) {
      if (where.empty()) continue;
      ASSIGN_OR_RETURN(const rpc::Endpoint endpoint, rpc::ParseEndpoint(where));
      RETURN_IF_ERROR(runtime::OpenChannel(endpoint, {}, "", absl::Now() + absl::Seconds(1)).status());
    }
    return absl::OkStatus();
  }
};

Daemon::Daemon(std::unique_ptr<State> state) : state_(std::move(state)) {}
Daemon::Daemon(Daemon&&) noexcept = default;
Daemon& Daemon::operator=(Daemon&&) noexcept = default;
Daemon::~Daemon() = default;

absl::StatusOr<Daemon> Daemon::Start(const DaemonOptions& options) {
  RETURN_IF_ERROR(runtime::CheckGrpc());  // Fails at once if no connection can be made.
  std::unique_ptr<State> state = std::make_unique<State>();
  state->options = options;
  state->binary = options.binary;
  if (state->binary.empty()) {
    ASSIGN_OR_RETURN(state->binary, runtime::FindDaemonBinary());
  }
  ASSIGN_OR_RETURN(state->folder, TemporaryFolder::Make("hlod-test-daemon"));
  state->address = "unix:" + state->folder.path() + "/hlod.sock";
  if (options.tcp) {
    ASSIGN_OR_RETURN(const int port, FreePort());
    state->tcp_address = "127.0.0.1:" + std::to_string(port);
  }
  RETURN_IF_ERROR(state->Launch());
  return Daemon(std::move(state));
}

const std::string& Daemon::address() const { return state_->address; }
const std::string& Daemon::tcp_address() const { return state_->tcp_address; }
int Daemon::pid() const { return state_->pid; }

absl::StatusOr<Client> Daemon::Connect(ConnectOptions options) const {
  if (options.address.empty()) options.address = address();
  return Client::Connect(options);
}

absl::StatusOr<Client> Daemon::ConnectTcp(ConnectOptions options) const {
  options.address = tcp_address();
  return Client::Connect(options);
}

absl::StatusOr<Admin> Daemon::Administration() const {
  ConnectOptions options;
  options.address = address();
  return Admin::Connect(options);
}

absl::StatusOr<DaemonStats> Daemon::Stats() const {
  ASSIGN_OR_RETURN(const Admin admin, Administration());
  return admin.Stats();
}

int64_t Daemon::UsedBytes() const {
  const absl::StatusOr<Admin> admin = Administration();
  if (!admin.ok()) return -1;
  const absl::StatusOr<std::vector<DeviceRow>> devices = admin->Devices();
  if (!devices.ok()) return -1;
  int64_t used = 0;
  for (const DeviceRow& device : *devices) used += device.used_bytes;
  return used;
}

bool Daemon::WaitForUsedBytes(int64_t bytes, absl::Duration timeout) const {
  const absl::Time deadline = absl::Now() + timeout;
  while (UsedBytes() != bytes) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(kPollInterval);
  }
  return true;
}

void Daemon::Kill(int signal) const { kill(state_->pid, signal); }

std::optional<int> Daemon::WaitForExit(absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (state_->Running()) {
    if (absl::Now() >= deadline) return std::nullopt;
    absl::SleepFor(kPollInterval);
  }
  return state_->exit;
}

bool Daemon::running() { return state_->Running(); }
std::string Daemon::log() const { return state_->Log(); }

absl::Status Daemon::Restart() {
  if (state_->Running()) return FailedPrecondition("The daemon still runs.");
  return state_->Launch();
}

// ------------------------------------------------------------------------------------------ the ledger

namespace {

using RowKey = std::tuple<Cause, std::string, int, std::string, uint64_t, int>;

RowKey KeyOf(const LedgerRow& row) {
  return {row.cause, row.origin.file, row.origin.line, row.origin.function, row.step, row.device};
}

Amount Minus(const Amount& a, const Amount& b) { return {a.bytes - b.bytes, a.calls - b.calls}; }
std::string Text(const Amount& amount) {
  return absl::StrFormat("%d bytes in %d calls", amount.bytes, amount.calls);
}

std::vector<LedgerRow> RowsSince(const SessionStats& before, const SessionStats& after) {
  std::map<RowKey, Amount> known;
  for (const LedgerRow& row : before.rows) known[KeyOf(row)] = row.amount;
  std::vector<LedgerRow> rows;
  for (LedgerRow row : after.rows) {
    if (const auto old = known.find(KeyOf(row)); old != known.end())
      row.amount = Minus(row.amount, old->second);
    if (row.amount != Amount{}) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

TransferWatch::TransferWatch(const Client& client) : client_(client) {
  if (absl::StatusOr<SessionStats> stats = client_.Stats(); stats.ok()) before_ = *std::move(stats);
}

std::vector<LedgerRow> TransferWatch::Rows() {
  const absl::StatusOr<SessionStats> now = client_.Stats();
  return now.ok() ? RowsSince(before_, *now) : std::vector<LedgerRow>();
}

std::string TransferWatch::Check(const Transfers& expected) {
  absl::StatusOr<SessionStats> now = client_.Stats();
  if (!now.ok()) return "The session's account cannot be read: " + now.status().ToString();
  std::string differences;
  const auto compare = [&](std::string_view direction, const Amount& want, const Amount& before,
                           const Amount& after) {
    const Amount got = Minus(after, before);
    if (got == want) return;
    differences += absl::StrFormat("%s: %s, expected %s.\n", direction, Text(got), Text(want));
  };
  compare("host to device", expected.host_to_device, before_.host_to_device, now->host_to_device);
  compare("device to host", expected.device_to_host, before_.device_to_host, now->device_to_host);
  compare("device to device", expected.device_to_device, before_.device_to_device, now->device_to_device);
  if (!differences.empty()) {
    for (const LedgerRow& row : RowsSince(before_, *now)) {
      differences += absl::StrFormat("  %s at %s, step %d: %s\n", Name(row.cause), ToString(row.origin),
                                     row.step, Text(row.amount));
    }
  }
  before_ = *std::move(now);
  return differences;
}

std::string CheckLedger(const SessionStats& stats) {
  std::map<Direction, Amount> sums;
  for (const LedgerRow& row : stats.rows) {
    Amount& sum = sums[DirectionOf(row.cause)];
    sum.bytes += row.amount.bytes;
    sum.calls += row.amount.calls;
  }
  std::string differences;
  const auto compare = [&](Direction direction, const Amount& total) {
    if (sums[direction] == total) return;
    differences += absl::StrFormat("%s: the rows sum to %s, the total is %s.\n", Name(direction),
                                   Text(sums[direction]), Text(total));
  };
  compare(Direction::kHostToDevice, stats.host_to_device);
  compare(Direction::kDeviceToHost, stats.device_to_host);
  compare(Direction::kDeviceToDevice, stats.device_to_device);
  return differences;
}

}  // namespace hlod::testing
