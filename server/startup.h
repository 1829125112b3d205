// The process-wide setup of a daemon: logging, signals, configured files, systemd.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/rpc/shared_memory.h"
#include "server/config.h"
#include "server/engine/assemble/assembler.h"
#include "server/engine/native/native_kernels.h"
#include "server/grpc/server.h"

namespace hlod {

// Sets up spdlog to stderr, gRPC's own log into it, its resolver of names, and malloc to keep memory in the
// process. Must be called
// first.
absl::Status SetUpProcess(const std::string& log_level);
// Blocks SIGTERM, SIGINT and SIGHUP in this thread and the threads that it starts. Returns a descriptor that
// reads them. Must be called before any thread starts.
int BlockSignals();

// Takes system calls from this thread and the threads that it starts, as the configuration says. Without a
// setting there, a kernel that has no filters is a warning. Must be called before any thread starts.
absl::Status ConfineProcess(const Config& config);

// Replaces the cluster "auto" by the place that the launcher gives to this daemon. Settings that the
// configuration has stay.
absl::Status ApplyLauncher(const Environment& environment, Config& config);

// Limits the instruction sets of programs by the configuration or, without a setting there, by the
// environment. Must be called while there is only one thread.
absl::Status LimitCpuFeatures(const Config& config, const Environment& environment);

// Returns the server's options: parses addresses, reads files, takes systemd's sockets, and makes the default
// socket's folder.
absl::StatusOr<grpc_server::ServerOptions> MakeServerOptions(const Config& config,
                                                             const Environment& environment,
                                                             std::string_view version);
// Opens the folder of compiled programs; null if there is none. It is an error if the configuration names a
// folder that cannot be used, and a warning for the default folder.
absl::StatusOr<std::shared_ptr<device::CompileCache>> OpenCompileCache(const Config& config,
                                                                       const Environment& environment,
                                                                       std::string_view version);
// Returns the assembler of the programs' machine code, by the configuration or, without a setting there, by
// the environment; null if it is off.
absl::StatusOr<std::shared_ptr<engine::Assembler>> MakeAssembler(const Config& config,
                                                                 const Environment& environment);
// Loads the kernels of the libraries that the configuration names.
absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> LoadKernels(const Config& config);
// Returns the devices' options; memory sizes that the configuration does not set depend on this machine's
// memory.
device::Devices::Options MakeDeviceOptions(const Config& config);

// The client of a private daemon: its end of the connection, which children of the client may share, and its
// process.
struct PrivateClient {
  rpc::Descriptor connection, process;
  // Copies the connection, so that this reader sees its end as well. Empty if `inherited` is negative.
  static PrivateClient Of(int inherited);
};
// Waits for the first signal, or for the end of the private connection or its client, if there is one.
void WaitForEnd(int signals, const PrivateClient& client);
// Notifies systemd, if it started the daemon: "READY=1", "STOPPING=1".
void NotifySystemd(const char* state);

}  // namespace hlod
