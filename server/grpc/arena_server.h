// The socket from which clients fetch the memory that their session shares with them, its arena or its ring:
// in the abstract namespace, under a random name.
#pragma once

#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/rpc/shared_memory.h"

namespace hlod::session {
class Registry;
}

namespace hlod::grpc_server {

class ArenaServer {
 public:
  // Opens the socket. UNAVAILABLE if the kernel refuses: then there are no arenas.
  static absl::StatusOr<std::unique_ptr<ArenaServer>> Create();
  ~ArenaServer();
  const std::string& name() const { return name_; }
  // Starts answering. A client sends its session's secret, or the key of its ring, and receives the
  // descriptor when its user is the session's.
  void Start(session::Registry& registry);

 private:
  ArenaServer(std::string name, rpc::Descriptor socket)
      : name_(std::move(name)), socket_(std::move(socket)) {}
  void Serve(session::Registry& registry);

  const std::string name_;
  rpc::Descriptor socket_;
  std::thread thread_;
};

}  // namespace hlod::grpc_server
