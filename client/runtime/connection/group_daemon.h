// The private daemon of a process of a group (hlod/runtime/group.h). The process asks it several times about
// the cluster before its session begins, so connectors share the one connection that such a daemon has.
#pragma once

#include <grpcpp/channel.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/runtime/connection/connector.h"
#include "client/runtime/connection/pipe.h"
#include "common/rpc/shared_memory.h"

namespace hlod::runtime {

// Thread-safe. The daemon ends with the last reference.
class GroupDaemon {
 public:
  static absl::StatusOr<std::shared_ptr<GroupDaemon>> Start(std::vector<std::string> flags);
  // Returns a connector that keeps the daemon.
  static std::unique_ptr<Connector> ConnectorTo(std::shared_ptr<GroupDaemon> daemon);

  // Opens a stream on the daemon's connection. Kind lost_session when the daemon has ended.
  absl::StatusOr<std::shared_ptr<Pipe>> Open(absl::Time deadline) ABSL_LOCKS_EXCLUDED(mu_);
  std::shared_ptr<BulkChannel> bulk() ABSL_LOCKS_EXCLUDED(mu_);
  const std::vector<std::string>& flags() const { return flags_; }
  const std::string& address() const { return address_; }

 private:
  GroupDaemon(int socket, std::vector<std::string> flags);

  const std::vector<std::string> flags_;
  const std::string address_;
  const rpc::Descriptor watched_;  // A duplicate of the connection's socket.
  absl::Mutex mu_;
  int socket_ ABSL_GUARDED_BY(mu_);  // -1 once the channel has it.
  std::shared_ptr<grpc::Channel> channel_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<BulkChannel> bulk_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::runtime
