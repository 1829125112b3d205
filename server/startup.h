// The environment of a daemon's life: logging, signals, configured files, systemd.
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

// Sets up spdlog to stderr, gRPC's own log into it, and memory that stays with the process. To be called
// first.
absl::Status SetUpProcess(const std::string& log_level);
// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in those it starts. Returns a descriptor that reads
// them. To be called before any thread starts.
int BlockSignals();

// Limits the instruction sets of programs as the configuration says, else the environment. To be called while
// there is one thread.
absl::Status LimitCpuFeatures(const Config& config, const Environment& environment);

// Returns the server's options: parses addresses, reads files, takes systemd's sockets, and makes the default
// socket's folder.
absl::StatusOr<grpc_server::ServerOptions> MakeServerOptions(const Config& config,
                                                             const Environment& environment,
                                                             std::string_view version);
// Opens the folder of compiled programs; null where there is none. It is an error when the configuration
// names one that cannot be used, and a warning for another one.
absl::StatusOr<std::shared_ptr<device::CompileCache>> OpenCompileCache(const Config& config,
                                                                       const Environment& environment,
                                                                       std::string_view version);
// Loads the kernels of the libraries that the configuration names.
absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> LoadKernels(const Config& config);
// Returns the devices' options, with this machine's memory where the configuration has none.
device::Devices::Options MakeDeviceOptions(const Config& config);

// A private daemon's client: its end of the connection, which children of the client may share, and its
// process.
struct PrivateClient {
  rpc::Descriptor connection, process;
  // Copies the connection, so that its end is seen by any reader. Empty when `inherited` is negative.
  static PrivateClient Of(int inherited);
};
// Waits for the first signal, or for the end of the private connection or its client, if there is one.
void WaitForEnd(int signals, const PrivateClient& client);
// Notifies systemd, if it started the daemon: "READY=1", "STOPPING=1".
void NotifySystemd(const char* state);

}  // namespace hlod
