// Listening sockets (unix with a lock against a second daemon, TCP, or inherited from systemd) and the thread
// that accepts.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/shared_memory.h"
#include "server/grpc/connections.h"

namespace hlod::grpc_server {

// One listening socket. The destructor removes a unix socket's file.
class ListeningSocket {
 public:
  // Binds and listens. A unix socket has mode 0660 and the group hlod when that exists. An existing socket is
  // replaced when no process listens on it, otherwise the result is ALREADY_EXISTS. For TCP, the system
  // chooses a port for 0. UNAVAILABLE with the system's error otherwise.
  static absl::StatusOr<ListeningSocket> Open(const rpc::Endpoint& endpoint);
  // Takes a socket that already listens (systemd's).
  static absl::StatusOr<ListeningSocket> Inherit(int fd);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ~ListeningSocket();

  int fd() const { return fd_.get(); }
  // Includes the port that was chosen.
  const rpc::Endpoint& endpoint() const { return endpoint_; }

 private:
  ListeningSocket() = default;
  rpc::Descriptor fd_, lock_;
  rpc::Endpoint endpoint_;
  bool owns_file_ = false;
};

// Returns true when accept, which failed with `error`, would fail again at once, for example for lack of
// descriptors or memory.
bool AcceptMustWait(int error);

// Accepts on all of its sockets.
class Listener {
 public:
  // Called on the listener's thread with each connection (close-on-exec, not blocking). When it throws, the
  // connection ends.
  using Accepted = std::function<void(ConnectedSocket socket, const rpc::Endpoint& endpoint)>;
  // TCP connections whose peer vanished break after `tcp_silence`.
  Listener(std::vector<ListeningSocket> sockets, absl::Duration tcp_silence, Accepted accepted);
  ~Listener();
  // Stops accepting connections, and removes the sockets and their files.
  void Stop();

 private:
  void Serve();
  // Called if there is no descriptor for the next connection of a listening socket. Accepts it with the
  // reserve descriptor, sends it the reason and closes it, so that its client does not wait in vain.
  void RefuseOne(int listening);
  std::vector<ListeningSocket> sockets_;
  const absl::Duration tcp_silence_;
  const Accepted accepted_;
  rpc::Descriptor wake_;
  rpc::Descriptor reserve_;  // Used by the thread only.
  std::thread thread_;
};

}  // namespace hlod::grpc_server
