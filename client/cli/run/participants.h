// The participants of a program that hloctl runs: their devices, arguments and channels.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands.h"
#include "client/cli/run/run_channels.h"
#include "common/hlo/module.h"
#include "hlod/runtime/client.h"

namespace hlod::cli {

class Participants {
 public:
  // Makes the arguments, on the devices of the program's mesh, or on the first devices of the daemon. A
  // program of one participant runs on the options' device.
  static absl::StatusOr<Participants> Make(const Client& client, const hlo::Module& module,
                                           const Executable& executable, const RunOptions& options);

  // The arguments of all participants, one participant after another; of a program on a mesh, the whole ones.
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<RunChannels>& channels() const { return channels_; }
  // Hands each participant the input values of one run, and requests its output values.
  absl::Status Open(const Caller& caller);
  // Call it after the run has ended. Returns an error when a participant sent fewer values than requested.
  absl::Status CheckGiven() const;

 private:
  std::vector<Device> devices_;
  std::vector<RunChannels> channels_;
  std::vector<Argument> arguments_;
};

}  // namespace hlod::cli
