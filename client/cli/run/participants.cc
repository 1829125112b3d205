// Gives each participant a device, arguments and channels.
#include "client/cli/run/participants.h"

#include "client/cli/run/run_arguments.h"
#include "common/base/errors/status.h"

namespace hlod::cli {

absl::StatusOr<Participants> Participants::Make(const Client& client, const hlo::Module& module,
                                                const Executable& executable, const RunOptions& options) {
  const auto count = static_cast<size_t>(executable.participant_count());
  Participants made;
  ASSIGN_OR_RETURN(const RunChannels channels, RunChannels::Make(module, options));
  made.channels_.assign(count, channels);
  for (size_t m = 0; m < count; ++m) {
    const int device = executable.mesh() != nullptr ? executable.mesh()->devices()[m]
                       : count == 1                 ? options.device
                                                    : static_cast<int>(m);
    made.devices_.push_back(client.device(device));
  }
  if (executable.mesh() != nullptr) {
    ASSIGN_OR_RETURN(made.arguments_, MakeMeshArguments(client, executable, options));
    return made;
  }
  for (size_t m = 0; m < count; ++m) {
    ASSIGN_OR_RETURN(const std::vector<Argument> own,
                     MakeArguments(made.devices_[m], executable, options, m));
    made.arguments_.insert(made.arguments_.end(), own.begin(), own.end());
  }
  return made;
}

absl::Status Participants::Open(const Caller& caller) {
  for (size_t m = 0; m < channels_.size(); ++m) RETURN_IF_ERROR(channels_[m].Open(devices_[m], caller));
  return absl::OkStatus();
}

absl::Status Participants::CheckGiven() const {
  for (const RunChannels& own : channels_) RETURN_IF_ERROR(own.CheckGiven());
  return absl::OkStatus();
}

}  // namespace hlod::cli
