// Listening sockets: unix with a lock against a second daemon, TCP, or inherited from systemd; and the thread
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

// One listening socket. A unix socket's file goes with it.
class ListeningSocket {
 public:
  // Binds and listens. Unix: 0660, group hlod when there is one; a socket that nobody listens on is replaced,
  // one that somebody does is ALREADY_EXISTS. TCP: port 0 is chosen by the system. UNAVAILABLE with the
  // system's word otherwise.
  static absl::StatusOr<ListeningSocket> Open(const rpc::Endpoint& endpoint);
  // A socket that already listens (systemd's).
  static absl::StatusOr<ListeningSocket> Inherit(int fd);

  ListeningSocket(ListeningSocket&& other) noexcept;
  ~ListeningSocket();

  int fd() const { return fd_.get(); }
  // With the port that was chosen.
  const rpc::Endpoint& endpoint() const { return endpoint_; }

 private:
  ListeningSocket() = default;
  rpc::Descriptor fd_, lock_;
  rpc::Endpoint endpoint_;
  bool owns_file_ = false;
};

// Whether accept, which failed with this `error`, would fail again at once: for want of descriptors or
// memory, say.
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
  // Takes no more connections; the sockets and their files go.
  void Stop();

 private:
  void Serve();
  // There is no descriptor for the next connection of a listening socket: accepts it in the place of the
  // reserve, tells it so and closes it, so that it does not wait for what may never come.
  void RefuseOne(int listening);
  std::vector<ListeningSocket> sockets_;
  const absl::Duration tcp_silence_;
  const Accepted accepted_;
  rpc::Descriptor wake_;
  rpc::Descriptor reserve_;  // Of the thread.
  std::thread thread_;
};

}  // namespace hlod::grpc_server
