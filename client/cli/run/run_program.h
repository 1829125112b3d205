// The program that hloctl runs or profiles.
#pragma once

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "client/cli/module/load_module.h"
#include "hlod/runtime/client.h"

namespace hlod::cli {

// Returns the options for a StableHLO program: those of the command line, with the sizes and small integers
// of the arrays in the argument files. A file that cannot be read is reported when its contents are needed.
absl::StatusOr<ReadOptions> ReadOptionsOf(const RunOptions& options);
// Returns a usage error when --size contradicts a shape that the program states.
absl::Status CheckSizes(const Module& module, const RunOptions& options);
// Returns an error unless the daemon has a device for each participant.
absl::Status CheckDevices(const Client& client, const Module& module, const Executable& executable);
// Returns an error if an argument of a program for one device is larger than a buffer may be, before its
// elements are made or read.
absl::Status CheckArguments(const Client& client, const Module& module, const Executable& executable);

}  // namespace hlod::cli
