// What surrounds a daemon's life: logging, signals, files it is given, systemd.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rpc/shared_memory.h"
#include "server/config.h"
#include "server/engine/native/native_kernels.h"
#include "server/grpc/server.h"

namespace hlod {

// spdlog to stderr, gRPC's own log into it, memory that stays with the process. To be called first.
absl::Status SetUpProcess(const std::string& log_level);
// Blocks SIGTERM, SIGINT and SIGHUP in this thread and those it starts; the descriptor reads them. Before any
// thread starts.
int BlockSignals();

// Limits what programs compute with, as the configuration says, else the environment. To be called while
// there is one thread.
absl::Status LimitCpuFeatures(const Config& config, const Environment& environment);

// The server's options: addresses parsed, files read, systemd's sockets taken, the default socket's folder
// made.
absl::StatusOr<grpc_server::ServerOptions> MakeServerOptions(const Config& config,
                                                             const Environment& environment,
                                                             std::string_view version);
// The folder of compiled programs; null where there is none. One that the configuration names and that cannot
// be used is an error; another one a warning.
absl::StatusOr<std::shared_ptr<device::CompileCache>> OpenCompileCache(const Config& config,
                                                                       const Environment& environment,
                                                                       std::string_view version);
// The kernels of the libraries that the configuration names.
absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> LoadKernels(const Config& config);
// The devices' options, with this machine's memory where nothing is said.
device::Devices::Options MakeDeviceOptions(const Config& config);

// A private daemon's client: its end of the connection, which children of the client may share, and its
// process.
struct PrivateClient {
  rpc::Descriptor connection, process;
  // A copy of the connection, so that its end is seen by any reader. Nothing when `inherited` is negative.
  static PrivateClient Of(int inherited);
};
// Waits for the first signal, or for the end of the private connection or its client, if there is one.
void WaitForEnd(int signals, const PrivateClient& client);
// Tells systemd, where there is one: "READY=1", "STOPPING=1".
void NotifySystemd(const char* state);

}  // namespace hlod
