// For integration tests: a private daemon on a temporary socket, and checks of its ledger.
//
//   TEST(MyStep, UploadsItsBatchOnce) {
//     hlod::testing::Daemon daemon = hlod::testing::Daemon::Start().value();
//     hlod::Client client = daemon.Connect().value();
//     hlod::testing::TransferWatch watch(client);
//     RunMyStep(client);
//     EXPECT_EQ(watch.Check({.host_to_device = {4096, 1}, .device_to_host = {4, 1}}), "");
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hlod/runtime/admin.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/types.h"

namespace hlod::testing {

struct DaemonOptions {
  // The daemon's binary; empty: found as for a private daemon ($HLOD_DAEMON, beside this program, PATH).
  std::string binary;
  bool tcp = false;    // Listen on a free port of 127.0.0.1 as well.
  // Further flags: {"--device-memory", "64MiB"}. Without --compile-cache DIR no program is found in a
  // persistent cache.
  std::vector<std::string> flags;
  absl::Duration timeout = absl::Seconds(30);  // The time limit for the daemon to start.
};

// A daemon process. It is killed when the object is destroyed, and when this process dies in any way.
class Daemon {
 public:
  // Starts a daemon and waits until it answers. An error has the daemon's output on stderr.
  static absl::StatusOr<Daemon> Start(const DaemonOptions& options = {});
  Daemon(Daemon&&) noexcept;
  Daemon& operator=(Daemon&&) noexcept;
  ~Daemon();

  const std::string& address() const;      // "unix:/tmp/hlod-test-.../hlod.sock"
  const std::string& tcp_address() const;  // "127.0.0.1:PORT"; empty unless asked for.
  int pid() const;

  // Opens a new session; by default over the unix socket.
  absl::StatusOr<Client> Connect(ConnectOptions options = {}) const;
  absl::StatusOr<Client> ConnectTcp(ConnectOptions options = {}) const;
  // Connects to the daemon's administration.
  absl::StatusOr<Admin> Administration() const;
  absl::StatusOr<DaemonStats> Stats() const;
  // Device memory in use, over all devices; -1 when the daemon does not answer.
  int64_t UsedBytes() const;
  // Waits until UsedBytes() is `bytes`; false after `timeout`.
  bool WaitForUsedBytes(int64_t bytes, absl::Duration timeout) const;

  // Sends the daemon a signal (SIGKILL, SIGTERM, SIGSTOP).
  void Kill(int signal) const;
  // Waits for its end and returns its exit code, or 128 + the signal; nullopt after `timeout`.
  std::optional<int> WaitForExit(absl::Duration timeout);
  // True while the process lives.
  bool running();
  // Returns its output to stderr.
  std::string log() const;
  // Starts the daemon again on the same sockets after it ended.
  absl::Status Restart();

 private:
  struct State;
  explicit Daemon(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The bytes and calls that are expected to have crossed. Fields that are not set are expected to be zero.
struct Transfers {
  Amount host_to_device, device_to_host, device_to_device;
};

// Compares a session's ledger at two times.
class TransferWatch {
 public:
  explicit TransferWatch(const Client& client);
  // Returns "" when exactly `expected` crossed since the watch began (or since the last Check); otherwise a
  // sentence with what crossed, row by row.
  std::string Check(const Transfers& expected);
  // The rows since the watch began, or since the last Check.
  std::vector<LedgerRow> Rows();

 private:
  Client client_;
  SessionStats before_;
};

// Returns "" when the sums over the rows equal the totals; otherwise a sentence with the difference.
std::string CheckLedger(const SessionStats& stats);

}  // namespace hlod::testing
