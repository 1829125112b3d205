// hlod: builds the daemon's parts, connects them, and waits for the end.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/errors/status.h"
#include "common/base/system/mutex.h"
#include "common/network/topology.h"
#include "server/config.h"
#include "server/engine/contraction/measure_products.h"
#include "server/engine/run/team.h"
#include "server/metrics/endpoint.h"
#include "server/startup.h"
#include "server/team_policy.h"

namespace hlod {
namespace {

// The time for work that was cancelled but may not stop at once (a routine of LAPACK, a pass over a large
// program).
constexpr absl::Duration kStopping = absl::Seconds(2);

// Returns the time for work to finish, such that the daemon has ended when all of `drain` is over.
absl::Duration FinishingTime(absl::Duration drain) { return drain - std::min(kStopping, drain / 4); }

// Ends the process when its orderly end takes too long, even if work is still running: soon after a second
// signal, after the end of a private daemon's client, and after a drain that ran out of time; later when the
// drain was complete, which should not happen. Its threads start with the daemon, because the system may
// refuse threads when the daemon ends.
class LastResort {
 public:
  // Throws std::system_error if there are no threads.
  static LastResort* Start(int signals) {
    // Never destroyed, because its threads end with the process.
    static LastResort* const last_resort = new LastResort;
    std::thread([signals] { last_resort->EndAtSecondSignal(signals); }).detach();
    std::thread([] { last_resort->EndInTime(); }).detach();
    return last_resort;
  }
  // From now on a signal ends the process soon.
  void Watch() { watching_.Notify(); }
  bool ends_soon() const { return ends_soon_; }
  void EndSoon() {
    if (!ends_soon_.exchange(true)) EndAfter(kStopping, 0);
  }
  void EndLater() { EndAfter(absl::Seconds(10), 1); }
  // Sets a text for the log that describes the running work that cannot be stopped.
  void SetRunning(std::string running) {
    MutexLock lock(&mu_);
    running_ = std::move(running);
  }
  // From now on the process ends without a word when its end takes too long: the log ends with the static
  // objects, before the threads.
  void EndLog() {
    MutexLock lock(&mu_);
    has_log_ = false;
  }

 private:
  void EndAtSecondSignal(int signals) {
    watching_.WaitForNotification();
    WaitForEnd(signals, PrivateClient());
    EndSoon();
  }
  // The first of several ends counts.
  void EndAfter(absl::Duration time, int exit_code) {
    MutexLock lock(&mu_);
    if (absl::Now() + time >= end_) return;
    end_ = absl::Now() + time;
    exit_code_ = exit_code;
    changed_.Signal();
  }
  void EndInTime() {
    MutexLock lock(&mu_);
    for (absl::Duration left; (left = end_ - absl::Now()) > absl::ZeroDuration();) {
      if (end_ == absl::InfiniteFuture()) {
        changed_.Wait(&mu_);
      } else {
        changed_.WaitFor(&mu_, absl::ToChronoMicroseconds(left) + std::chrono::microseconds(1));
      }
    }
    if (has_log_) {
      spdlog::warn("Ended although work could not be stopped: {}.",
                   running_.empty() ? "sessions that still end" : running_);
    }
    _exit(exit_code_);
  }
  std::atomic<bool> ends_soon_{false};
  absl::Notification watching_;
  Mutex mu_;
  CondVar changed_;
  absl::Time end_ ABSL_GUARDED_BY(mu_) = absl::InfiniteFuture();
  int exit_code_ ABSL_GUARDED_BY(mu_) = 0;
  std::string running_ ABSL_GUARDED_BY(mu_);
  bool has_log_ ABSL_GUARDED_BY(mu_) = true;
};

// Ends the daemon when its cluster refuses it.
class Refusal {
 public:
  void Watch(grpc_server::ServerOptions& options) {
    if (!options.cluster.has_value()) return;
    options.cluster->on_refused = [this](const absl::Status& why) {
      {
        MutexLock lock(&mu_);
        why_ = why;
      }
      kill(getpid(), SIGTERM);
    };
  }
  absl::Status why() {
    MutexLock lock(&mu_);
    return why_;
  }

 private:
  Mutex mu_;
  absl::Status why_ ABSL_GUARDED_BY(mu_);
};

constexpr char kVersion[] = "hlod " HLOD_VERSION;

// Returns the exit code: 2 when the configuration is wrong (for example, an unknown flag), 1 when the machine
// lacks a resource.
int Fail(const absl::Status& status) {
  std::fprintf(stderr, "hlod: %s\n", std::string(status.message()).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
}

// Makes the devices: memory, queues, compiled programs, the ledger. They do not depend on clients.
absl::StatusOr<std::unique_ptr<device::Devices>> MakeDevices(const Config& config,
                                                             const Environment& environment,
                                                             const Clock& clock) {
  device::Devices::Options options = MakeDeviceOptions(config);
  ASSIGN_OR_RETURN(options.compile_cache, OpenCompileCache(config, environment, kVersion));
  ASSIGN_OR_RETURN(options.kernels, LoadKernels(config));
  if (!config.network.empty()) {
    ASSIGN_OR_RETURN(const network::Network chips, network::ParseNetwork(config.network));
    if (chips.places.size() < options.count) {
      return InvalidArgument("--network %s has %d chips; the daemon has %d devices (--devices).",
                             config.network, chips.places.size(), options.count);
    }
    options.network = std::make_shared<const network::Network>(chips);
  }
  ASSIGN_OR_RETURN(options.assembler, MakeAssembler(config, environment));
  return device::Devices::Create(options, clock);
}

// Starts the endpoint of metrics; null if the configuration has none.
absl::StatusOr<std::unique_ptr<metrics::Endpoint>> StartMetrics(const Config& config,
                                                                session::Registry& registry,
                                                                const Clock& clock) {
  if (config.metrics_listen.empty()) return nullptr;
  ASSIGN_OR_RETURN(std::unique_ptr<metrics::Endpoint> endpoint,
                   metrics::Endpoint::Start(config.metrics_listen, registry, clock));
  spdlog::info("Metrics at {}.", endpoint->url());
  return endpoint;
}

// Prints the addresses, and warns of those that every user of this machine may use.
void Announce(const grpc_server::Server& server, bool authenticates) {
  for (const rpc::Endpoint& endpoint : server.endpoints()) {
    spdlog::info("Listening on {}.", rpc::ToString(endpoint));
    std::printf("hlod: listening on %s\n", rpc::ToString(endpoint).c_str());
    if (endpoint.kind == rpc::Endpoint::Kind::kTcp && !authenticates) {
      spdlog::warn(
          "{} takes every user of this machine for a client, for TCP does not say who connects. Give "
          "a token (--token-file), or listen on a unix socket.",
          rpc::ToString(endpoint));
    }
  }
  std::fflush(stdout);
}

// Lets running work finish for the time `drain` in all; stops what has not finished.
void Drain(grpc_server::Server& server, device::Devices& devices, absl::Duration drain,
           LastResort& last_resort) {
  spdlog::info("Ending: running work may finish, new sessions are refused.");
  if (server.Drain(FinishingTime(drain), [&last_resort] { return last_resort.ends_soon(); })) return;
  const std::string running = devices.DescribeRunning();
  last_resort.SetRunning(running);
  last_resort.EndSoon();
  spdlog::warn("The time for running work (drain_us) is over; it is stopped: {}.",
               running.empty() ? "bytes on their way to clients" : running);
}

// Prints the speeds of matrix products. Returns the exit code.
int PrintProducts(const Config& config) {
  const std::string table = engine::ProductTable(engine::MeasureProducts(engine::TeamSize(config.threads)));
  return std::fputs(table.c_str(), stdout) < 0 ? 1 : 0;
}

int Main(int argc, char** argv) {
  CommandLine line = ParseCommandLine(argc, argv, kVersion);
  if (line.finished) return line.exit_code;
  const Environment environment = Environment::Read();
  RestartWithTeamPolicy(environment, argv);
  const Config& config = line.config;
  if (const absl::Status status = SetUpProcess(config.log_level); !status.ok()) return Fail(status);
  if (const absl::Status status = LimitCpuFeatures(config, environment); !status.ok()) return Fail(status);
  if (line.measure_products) return PrintProducts(config);
  if (const absl::Status status = ApplyLauncher(environment, line.config); !status.ok()) return Fail(status);
  if (const absl::Status status = ConfineProcess(config); !status.ok()) return Fail(status);
  const int signals = BlockSignals();
  LastResort* const last_resort = LastResort::Start(signals);

  // Reads addresses, certificates and tokens: errors in them are reported before anything is opened.
  absl::StatusOr<grpc_server::ServerOptions> options = MakeServerOptions(config, environment, kVersion);
  if (!options.ok()) return Fail(options.status());

  Refusal refusal;
  refusal.Watch(*options);
  const bool authenticates = !options->token.empty() || !options->tls_client_authority.empty();

  const Clock clock;
  absl::StatusOr<std::unique_ptr<device::Devices>> devices = MakeDevices(config, environment, clock);
  if (!devices.ok()) return Fail(devices.status());

  const PrivateClient client = PrivateClient::Of(config.inherit_fd);
  absl::StatusOr<std::unique_ptr<grpc_server::Server>> server =
      grpc_server::Server::Start(*std::move(options), **devices);
  if (!server.ok()) return Fail(server.status());
  absl::StatusOr<std::unique_ptr<metrics::Endpoint>> metrics_endpoint =
      StartMetrics(config, (*server)->registry(), clock);
  if (!metrics_endpoint.ok()) return Fail(metrics_endpoint.status());

  // From here on clients are answered.
  Announce(**server, authenticates);
  NotifySystemd("READY=1");
  WaitForEnd(signals, client);

  // Lets running work finish, within bounds; a second signal ends it soon.
  NotifySystemd("STOPPING=1");
  last_resort->Watch();
  if (client.connection.valid()) {
    last_resort->EndSoon();  // The client has ended, so no process waits for the running work.
  } else {
    Drain(**server, **devices, absl::Microseconds(config.drain_us), *last_resort);
  }
  // Ends all sessions, then the devices: waiting work is dropped, running work is cancelled.
  last_resort->EndLater();
  metrics_endpoint->reset();
  server->reset();
  last_resort->SetRunning((*devices)->DescribeRunning());
  devices->reset();
  spdlog::info("Ended.");
  last_resort->EndLog();
  return refusal.why().ok() ? 0 : Fail(refusal.why());
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) {
  try {
    return hlod::Main(argc, argv);
  } catch (const std::system_error& e) {  // The system refused a thread.
    std::fprintf(stderr, "hlod: %s\n", e.what());
    return 1;
  }
}
