// hlod: builds the daemon's parts, hands them to each other, and waits for the end.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "server/config.h"
#include "server/metrics/endpoint.h"
#include "server/startup.h"
#include "server/team_policy.h"

namespace hlod {
namespace {

// Ends the process when its orderly end takes too long, whatever still runs: soon after a second signal,
// after the end of a private daemon's client, and after a drain whose time was up; later when the drain was
// complete.
class LastResort {
 public:
  static std::shared_ptr<LastResort> Watch(int signals) {
    auto watch = std::make_shared<LastResort>();
    std::thread([watch, signals] {
      WaitForEnd(signals, PrivateClient());
      watch->EndSoon();
    }).detach();
    return watch;
  }
  bool ends_soon() const { return ends_soon_; }
  void EndSoon() {
    if (!ends_soon_.exchange(true)) EndAfter(std::chrono::seconds(2));
  }
  void EndLater() { EndAfter(std::chrono::seconds(10)); }

 private:
  static void EndAfter(std::chrono::seconds time) {
    std::thread([time] {
      std::this_thread::sleep_for(time);
      spdlog::warn("Ended with work under way.");
      _exit(1);
    }).detach();
  }
  std::atomic<bool> ends_soon_{false};
};

constexpr char kVersion[] = "hlod " HLOD_VERSION;

// The exit code: 2 when the configuration is wrong, as for an unknown flag; 1 when the machine lacks
// something.
int Fail(const absl::Status& status) {
  std::fprintf(stderr, "hlod: %s\n", std::string(status.message()).c_str());
  return status.code() == absl::StatusCode::kInvalidArgument ? 2 : 1;
}

int Main(int argc, char** argv) {
  const CommandLine line = ParseCommandLine(argc, argv, kVersion);
  if (line.finished) return line.exit_code;
  const Environment environment = Environment::Read();
  RestartWithTeamPolicy(environment, argv);
  const Config& config = line.config;
  if (const absl::Status status = SetUpProcess(config.log_level); !status.ok()) return Fail(status);
  if (const absl::Status status = LimitCpuFeatures(config, environment); !status.ok()) return Fail(status);
  const int signals = BlockSignals();

  // Addresses, certificates, tokens: whatever is wrong with them is reported before anything is opened.
  absl::StatusOr<grpc_server::ServerOptions> options = MakeServerOptions(config, environment, kVersion);
  if (!options.ok()) return Fail(options.status());

  // The devices: memory, queues, compiled programs, the ledger. They know no client.
  const Clock clock;
  absl::StatusOr<std::shared_ptr<device::CompileCache>> cache =
      OpenCompileCache(config, environment, kVersion);
  if (!cache.ok()) return Fail(cache.status());
  absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> kernels = LoadKernels(config);
  if (!kernels.ok()) return Fail(kernels.status());
  device::Devices::Options device_options = MakeDeviceOptions(config);
  device_options.compile_cache = *std::move(cache);
  device_options.kernels = *std::move(kernels);
  absl::StatusOr<std::unique_ptr<device::Devices>> devices = device::Devices::Create(device_options, clock);
  if (!devices.ok()) return Fail(devices.status());

  const PrivateClient client = PrivateClient::Of(config.inherit_fd);
  absl::StatusOr<std::unique_ptr<grpc_server::Server>> server =
      grpc_server::Server::Start(*std::move(options), **devices);
  if (!server.ok()) return Fail(server.status());
  std::unique_ptr<metrics::Endpoint> metrics_endpoint;
  if (!config.metrics_listen.empty()) {
    absl::StatusOr<std::unique_ptr<metrics::Endpoint>> started =
        metrics::Endpoint::Start(config.metrics_listen, (*server)->registry(), clock);
    if (!started.ok()) return Fail(started.status());
    metrics_endpoint = *std::move(started);
    spdlog::info("Metrics at {}.", metrics_endpoint->url());
  }

  // Beyond this point clients are answered.
  for (const rpc::Endpoint& endpoint : (*server)->endpoints()) {
    spdlog::info("Listening on {}.", rpc::ToString(endpoint));
    std::printf("hlod: listening on %s\n", rpc::ToString(endpoint).c_str());
  }
  std::fflush(stdout);
  NotifySystemd("READY=1");
  WaitForEnd(signals, client);

  // Running work finishes, within bounds; a second signal is not asked twice.
  NotifySystemd("STOPPING=1");
  const std::shared_ptr<LastResort> last_resort = LastResort::Watch(signals);
  if (client.connection.valid()) {
    last_resort->EndSoon();  // The client is gone: nobody waits for what still runs.
  } else {
    spdlog::info("Ending: running work may finish, new sessions are refused.");
    if (!(*server)->Drain(absl::Microseconds(config.drain_us),
                          [&last_resort] { return last_resort->ends_soon(); })) {
      last_resort->EndSoon();
      spdlog::warn("Work that still ran was stopped.");
    }
  }
  // All sessions end, then the devices: what has not started is dropped, what runs is cancelled.
  last_resort->EndLater();
  metrics_endpoint.reset();
  server->reset();
  devices->reset();
  spdlog::info("Ended.");
  return 0;
}

}  // namespace
}  // namespace hlod

int main(int argc, char** argv) {
  try {
    return hlod::Main(argc, argv);
  } catch (const std::system_error& e) {  // A thread that the system refuses.
    std::fprintf(stderr, "hlod: %s\n", e.what());
    return 1;
  }
}
