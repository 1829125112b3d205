// The connections by which a process joins a group (hlod/runtime/group.h).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/runtime/cluster/daemons.h"
#include "client/runtime/connection/group_daemon.h"
#include "hlod/runtime/client.h"

namespace hlod::runtime {

// One process's part in a group.
struct GroupPart {
  std::shared_ptr<Daemons> daemons;
  int first_device = 0;  // The number in the group of its daemon's first device.
  std::string pass;      // Shows its daemon that it is of process 0's group; empty for process 0 itself.
};

// Connects to learn about a daemon and its cluster: nothing records the session, and it uses no other daemon.
// `own` is the process's private daemon; null: the one that the options name.
absl::StatusOr<Client> ConnectToAsk(const ConnectOptions& options, const std::shared_ptr<GroupDaemon>& own);
// Connects as a process of a group.
absl::StatusOr<Client> ConnectAs(const GroupPart& part, const ConnectOptions& options,
                                 const std::shared_ptr<GroupDaemon>& own);

}  // namespace hlod::runtime
