// The interface between a session and a connection. gRPC is one implementation (session_handler.cc); tests
// use one in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "proto/hlod/v1/session.pb.h"

namespace hlod::session {

// The peer, as far as the kernel or TLS identifies it.
struct Peer {
  // True on a unix socket of this host: process ids are meaningful, and the shared arena works.
  bool local = false;
  std::string description;       // For the log: "unix", "ipv4:10.1.2.3:5555".
  // The owner for whom its sessions are counted: "user 1000", "user 1000 over TCP", "host 10.1.2.3".
  std::string owner;
  std::optional<uint32_t> user;  // The user of a unix socket's peer, as the kernel reports it.
};

// The daemon's side of one stream. Incoming messages go to a Connection (connection.h).
class SessionStream {
 public:
  virtual ~SessionStream() = default;
  // Starts sending, without waiting; `message` is not used after the return. Returns true if it has been sent
  // already; otherwise Connection::OnWritten() is called when it has been.
  virtual bool Write(const v1::ServerMessage& message) = 0;
  // Ends the stream once the written messages have been sent. No message may be written after it.
  virtual void Finish(const absl::Status& status) = 0;
  // Returns true when messages come through shared memory.
  virtual bool uses_ring() const { return false; }
};

// The session's view of one bulk stream. Thread-safe.
class BulkStream {
 public:
  virtual ~BulkStream() = default;
  // Ends the call at once, because its session has ended.
  virtual void Stop() = 0;
};

// The processes that have connected here. Thread-safe.
class Processes {
 public:
  virtual ~Processes() = default;
  // Returns the user id of a process that connected to this daemon's unix socket and has not ended; nullopt
  // for any other process.
  virtual std::optional<uint32_t> UserOf(int64_t pid) const { return std::nullopt; }
  // Returns true when a process with this id connected and ended recently, and no other has connected under
  // its id.
  virtual bool HasEnded(int64_t pid) const { return false; }
};

}  // namespace hlod::session
