// Refused connections: the first call on them is answered with the error, so that clients get it like the
// error of any other call.
#pragma once

#include <list>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/system/mutex.h"
#include "server/grpc/connections.h"

namespace hlod::grpc_server {

// Implements the necessary part of HTTP/2, without gRPC, a thread or waiting. Not for TLS.
class RefusedConnection {
 public:
  RefusedConnection(ConnectedSocket socket, const absl::Status& why);
  int fd() const { return socket_.get(); }
  // Reads the received bytes, and answers a call. Returns false when it is done and the connection may be
  // closed. Must be called when the connection is readable, or periodically.
  bool Advance();

 private:
  ConnectedSocket socket_;
  std::string answer_;  // The payload of the frame; empty after it is sent.
  std::string received_;
};

// The refused connections that wait for their clients' calls, a few and for a moment. Thread-safe.
class RefusedConnections {
 public:
  void Add(ConnectedSocket socket, const absl::Status& why);
  // Must be called a few times a second.
  void Tick();

 private:
  struct Refused {
    RefusedConnection connection;
    absl::Time ends;
  };
  Mutex mu_;
  std::list<Refused> refused_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::grpc_server
